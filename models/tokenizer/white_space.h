// Unicode's White_Space property.
#pragma once

#include <cstddef>
#include <string_view>

#include "models/tokenizer/utf8_iterate.h"

namespace minitorch::models {

[[nodiscard]] constexpr bool is_white_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

// Bytes of white space at the beginning of `text`.
[[nodiscard]] constexpr std::size_t leading_white_space(std::string_view text) {
  std::size_t position = 0;
  while (position < text.size() && is_white_space(code_point_at(text, position)))
    position += utf8_length(text[position]);
  return position;
}

// Bytes of white space at the end of `text`.
[[nodiscard]] constexpr std::size_t trailing_white_space(std::string_view text) {
  std::size_t position = text.size();
  while (position > 0) {
    const std::size_t begin = previous_character(text, position);
    if (!is_white_space(code_point_at(text, begin))) break;
    position = begin;
  }
  return text.size() - position;
}

}  // namespace minitorch::models
