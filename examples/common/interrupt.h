// Ctrl-C as a request to stop cleanly; a second one ends the process at once.
#pragma once

#include <atomic>

namespace minitorch {

inline constexpr int kExitInterrupted = 130;  // 128 + SIGINT, as shells report it

// From now on the first SIGINT sets the flag.
void catch_interrupt();
// From now on SIGINT ends the process, as it does from the start.
void release_interrupt();
[[nodiscard]] const std::atomic<bool>& interrupted();

}  // namespace minitorch
