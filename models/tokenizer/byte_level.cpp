// Bytes to characters and back.
#include "models/tokenizer/byte_level.h"

#include <cstddef>

#include "models/tokenizer/utf8_iterate.h"

namespace minitorch::models {
namespace {

constexpr char32_t kNumCharacters = 0x144;  // one more than the highest character in use

constexpr std::array<std::int16_t, kNumCharacters> kCharacterBytes = [] {
  std::array<std::int16_t, kNumCharacters> bytes{};
  for (std::int16_t& byte : bytes) byte = -1;
  for (std::size_t byte = 0; byte < 256; ++byte) bytes[kByteCharacters[byte]] = static_cast<std::int16_t>(byte);
  return bytes;
}();

}  // namespace

void append_byte_characters(std::string_view bytes, std::string& result) {
  for (const char byte : bytes) append_utf8(result, kByteCharacters[static_cast<unsigned char>(byte)]);
}

void append_bytes_of_characters(std::string_view token, std::string& result) {
  const std::size_t before = result.size();
  for (std::size_t position = 0; position < token.size(); position += utf8_length(token[position])) {
    const char32_t character = code_point_at(token, position);
    if (character >= kNumCharacters || kCharacterBytes[character] < 0) {
      result.replace(before, std::string::npos, token);
      return;
    }
    result.push_back(static_cast<char>(kCharacterBytes[character]));
  }
}

}  // namespace minitorch::models
