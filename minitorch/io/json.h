// Reading JSON files with errors that name the file. The JSON header itself stays out of headers.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace minitorch::io {

// Deepest nesting of arrays and objects that is accepted.
inline constexpr int kMaxJsonDepth = 256;

// The whole regular file as bytes. Throws IoError that names the path.
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

// The same of what a user names: a pipe or device too, read to its end, and "-" for standard input. At most 1 GiB.
[[nodiscard]] std::string read_input(const std::filesystem::path& path);
// As messages call it: the path, or "standard input".
[[nodiscard]] std::string name_of_input(const std::filesystem::path& path);

// Parses `text`; `name` begins the one-line message of the IoError thrown for malformed JSON, and for objects with the
// same key twice.
[[nodiscard]] nlohmann::json parse_json(std::string_view text, std::string_view name);

// read_file + parse_json.
[[nodiscard]] nlohmann::json read_json(const std::filesystem::path& path);

}  // namespace minitorch::io
