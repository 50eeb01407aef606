// Where the embedded pair lies: the folder `tiny_r1` that holds the models `target` and `draft`.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

// The CMake targets define it for whoever links them: the pair in the source tree, or that of the installation. As it
// is the caller's, the library holds no path, and an installation can be moved.
#ifndef MINITORCH_PAIR_FOLDER
#define MINITORCH_PAIR_FOLDER ""
#endif

namespace minitorch::models {

// The folder that holds `target` and `draft`, whatever the working folder is. Where MINITORCH_MODELS is set it is that
// one or none. Throws Error that lists where it looked.
[[nodiscard]] std::filesystem::path find_embedded_pair(const std::filesystem::path& known = MINITORCH_PAIR_FOLDER);

// Where find_embedded_pair looks, in this order: $MINITORCH_MODELS (the folder itself, or one above it),
// ../share/minitorch/tiny_r1 seen from the running program, and `known`, unless it is empty.
[[nodiscard]] std::vector<std::filesystem::path> embedded_pair_candidates(
    const std::filesystem::path& known = MINITORCH_PAIR_FOLDER);

// The first of `candidates` in which both `target` and `draft` hold a config.json, as an absolute path. Throws Error.
[[nodiscard]] std::filesystem::path find_pair(std::span<const std::filesystem::path> candidates);

}  // namespace minitorch::models
