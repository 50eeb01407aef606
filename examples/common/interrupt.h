// Ctrl-C as a request to stop cleanly; a second one ends the process at once.
#pragma once

#include <atomic>

namespace minitorch {

inline constexpr int kExitInterrupted = 130;  // 128 + SIGINT, as shells report it

// From now on the first SIGINT sets the flag, and a second one ends the process. A process that was started with SIGINT
// ignored goes on ignoring it.
void catch_interrupt();
// From now on SIGINT ends the process, as it does from the start.
void release_interrupt();
[[nodiscard]] const std::atomic<bool>& interrupted();
// A descriptor that is readable while the flag is set: for LineReader, and for poll(2) in general. Valid from the first
// catch_interrupt() on.
[[nodiscard]] int interrupt_descriptor();
// Takes the request as dealt with, and catches the next one: for programs that go on after Ctrl-C.
void clear_interrupt();

}  // namespace minitorch
