// Where the embedded pair lies: the folder `tiny_r1` that holds the models `target` and `draft`.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

namespace minitorch::models {

// The folder that holds `target` and `draft`, whatever the working folder is. Where MINITORCH_MODELS is set it is that
// one or none. Throws Error that lists where it looked.
[[nodiscard]] std::filesystem::path find_embedded_pair();

// Where find_embedded_pair looks, in this order: $MINITORCH_MODELS (the folder itself, or one above it),
// ../share/minitorch/tiny_r1 seen from the running program, and the source tree the program was built from.
[[nodiscard]] std::vector<std::filesystem::path> embedded_pair_candidates();

// The first of `candidates` in which both `target` and `draft` hold a config.json, as an absolute path. Throws Error.
[[nodiscard]] std::filesystem::path find_pair(std::span<const std::filesystem::path> candidates);

}  // namespace minitorch::models
