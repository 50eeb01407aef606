// Reading JSON files with errors that name the file. The JSON header itself stays out of headers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace minitorch::io {

// Deepest nesting of arrays and objects that is accepted.
inline constexpr int kMaxJsonDepth = 256;

// What happens when an object has the same key twice.
enum class DuplicateKeys : std::uint8_t { kLastWins, kRefuse };

// The whole file as bytes; pipes are read to their end. Throws IoError that names the path.
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

// Parses `text`; `name` begins the one-line message of the IoError thrown for malformed JSON.
[[nodiscard]] nlohmann::json parse_json(std::string_view text, std::string_view name,
                                        DuplicateKeys duplicates = DuplicateKeys::kLastWins);

// read_file + parse_json.
[[nodiscard]] nlohmann::json read_json(const std::filesystem::path& path);

}  // namespace minitorch::io
