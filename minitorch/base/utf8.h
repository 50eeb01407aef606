// UTF-8: validation and the length of complete text at the end of a stream.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace minitorch {

// Bytes before the first invalid sequence; text.size() when all of it is valid UTF-8 (RFC 3629: no overlong forms,
// no surrogates, at most U+10FFFF).
[[nodiscard]] std::size_t valid_utf8_prefix(std::string_view text);

// True when all of `text` is valid UTF-8.
[[nodiscard]] inline bool is_valid_utf8(std::string_view text) { return valid_utf8_prefix(text) == text.size(); }

// Replaces every maximal invalid subpart by U+FFFD, as the Unicode standard recommends (section 3.9).
[[nodiscard]] std::string replace_invalid_utf8(std::string_view text);

// Bytes at the end of `text` that begin a character and may be completed by more bytes: 0 to 3.
[[nodiscard]] std::size_t incomplete_utf8_suffix(std::string_view text);

// Text of unknown origin as part of a one-line message: valid UTF-8, control characters as spaces, cut after
// `max_bytes`.
[[nodiscard]] std::string printable(std::string_view text, std::size_t max_bytes = 200);

}  // namespace minitorch
