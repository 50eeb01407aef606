// Result files that are complete or not there.
#pragma once

#include <filesystem>
#include <string_view>

namespace minitorch::run_spec_decoding {

// Throws IoError when `path` could not be written: found out before the work, not after it.
void check_writable(const std::filesystem::path& path);

// Writes the whole text beside the file and renames it into place. What is no regular file (a pipe, /dev/null) is
// written directly.
void write_atomically(const std::filesystem::path& path, std::string_view text);

}  // namespace minitorch::run_spec_decoding
