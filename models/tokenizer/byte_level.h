// The alphabet of byte-level tokenizers: every byte is written as one printable character (GPT-2's bytes_to_unicode).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace minitorch::models {

// The characters of all bytes: printable Latin-1 stands for itself, the others follow from U+0100 on.
inline constexpr std::array<char32_t, 256> kByteCharacters = [] {
  std::array<char32_t, 256> characters{};
  char32_t next = 0x100;
  for (char32_t byte = 0; byte < 256; ++byte) {
    const bool is_printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    characters[byte] = is_printable ? byte : next++;
  }
  return characters;
}();

// Bytes as characters, appended to `result`.
void append_byte_characters(std::string_view bytes, std::string& result);

// Characters as bytes, appended to `result`; a token with any other character is appended as it is.
void append_bytes_of_characters(std::string_view token, std::string& result);

}  // namespace minitorch::models
