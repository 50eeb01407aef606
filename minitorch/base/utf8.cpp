// UTF-8 validation by the table of well-formed byte sequences (Unicode standard, table 3-7).
#include "minitorch/base/utf8.h"

#include <algorithm>
#include <cstdint>

namespace minitorch {
namespace {

// What may follow a lead byte: its number of continuation bytes and the range of the first of them; all others
// are 80..BF.
struct LeadByte {
  int num_following = -1;  // -1: cannot begin a character
  std::uint8_t low = 0x80;
  std::uint8_t high = 0xBF;
};

constexpr LeadByte classify(std::uint8_t byte) {
  if (byte < 0x80) return {0};
  if (byte < 0xC2) return {};
  if (byte < 0xE0) return {1};
  if (byte == 0xE0) return {2, 0xA0, 0xBF};  // no overlong forms
  if (byte == 0xED) return {2, 0x80, 0x9F};  // no surrogates
  if (byte < 0xF0) return {2};
  if (byte == 0xF0) return {3, 0x90, 0xBF};  // no overlong forms
  if (byte < 0xF4) return {3};
  if (byte == 0xF4) return {3, 0x80, 0x8F};  // at most U+10FFFF
  return {};
}

struct Sequence {
  std::size_t length = 1;  // of the character, or of the maximal invalid subpart
  bool valid = false;
  bool cut = false;  // well-formed as far as the text goes
};

Sequence sequence_at(std::string_view text, std::size_t position) {
  const auto byte_at = [&](std::size_t index) { return static_cast<std::uint8_t>(text[index]); };
  LeadByte lead = classify(byte_at(position));
  if (lead.num_following < 0) return {};
  std::size_t length = 1;
  for (int i = 0; i < lead.num_following; ++i, ++length) {
    if (position + length == text.size()) return {.length = length, .valid = false, .cut = true};
    const std::uint8_t byte = byte_at(position + length);
    if (byte < lead.low || byte > lead.high) return {.length = length};
    lead.low = 0x80;
    lead.high = 0xBF;
  }
  return {.length = length, .valid = true};
}

}  // namespace

std::size_t valid_utf8_prefix(std::string_view text) {
  std::size_t position = 0;
  while (position < text.size()) {
    const Sequence sequence = sequence_at(text, position);
    if (!sequence.valid) break;
    position += sequence.length;
  }
  return position;
}

std::string replace_invalid_utf8(std::string_view text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
  std::string result;
  result.reserve(text.size());
  for (std::size_t position = 0; position < text.size();) {
    const Sequence sequence = sequence_at(text, position);
    result += sequence.valid ? text.substr(position, sequence.length) : kReplacement;
    position += sequence.length;
  }
  return result;
}

std::size_t incomplete_utf8_suffix(std::string_view text) {
  const std::size_t longest = std::min<std::size_t>(text.size(), 3);
  for (std::size_t suffix = longest; suffix > 0; --suffix) {
    const Sequence sequence = sequence_at(text, text.size() - suffix);
    if (sequence.cut && sequence.length == suffix) return suffix;
  }
  return 0;
}

std::string printable(std::string_view text, std::size_t max_bytes) {
  std::string_view shown = text.substr(0, max_bytes);
  if (shown.size() < text.size()) shown.remove_suffix(incomplete_utf8_suffix(shown));
  std::string line = replace_invalid_utf8(shown);
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7F'; };
  std::replace_if(line.begin(), line.end(), is_control, ' ');
  return shown.size() < text.size() ? line + "..." : line;
}

}  // namespace minitorch
