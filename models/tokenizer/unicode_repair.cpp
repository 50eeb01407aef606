// Look-ups in the generated repair tables.
#include "models/tokenizer/unicode_repair.h"

#include <algorithm>
#include <iterator>

#include "models/tokenizer/utf8_iterate.h"

namespace minitorch::models {
namespace {

struct StandIn {
  char32_t first;
  char32_t last;
  char32_t stand_in;
};

struct CasePair {
  char32_t upper;
  char32_t lower;
};

#include "models/tokenizer/unicode_repair_table.inl"

// The entry of a sorted table whose range holds `code_point`, null when there is none.
template <typename Entry, std::size_t kSize>
const Entry* find_range(const Entry (&table)[kSize], char32_t code_point) {
  const Entry* end = std::end(table);
  const Entry* entry =
      std::partition_point(std::begin(table), end, [&](const Entry& e) { return e.last < code_point; });
  return entry != end && entry->first <= code_point ? entry : nullptr;
}

const StandIn* find_stand_in(std::string_view text, std::size_t position) {
  if (static_cast<unsigned char>(text[position]) < 0xC0) return nullptr;
  return find_range(kStandIns, code_point_at(text, position));
}

}  // namespace

std::optional<std::string> with_stand_ins(std::string_view text) {
  std::size_t position = 0;
  while (position < text.size() && find_stand_in(text, position) == nullptr) position += utf8_length(text[position]);
  if (position == text.size()) return std::nullopt;
  std::string result(text.substr(0, position));
  result.reserve(text.size());
  for (; position < text.size(); position += utf8_length(text[position])) {
    if (const StandIn* found = find_stand_in(text, position)) {
      append_utf8(result, found->stand_in);
    } else {
      result += text.substr(position, utf8_length(text[position]));
    }
  }
  return result;
}

bool is_inert_in_normalization(char32_t code_point) {
  return code_point >= kInertInNormalization[0].first && find_range(kInertInNormalization, code_point) != nullptr;
}

std::optional<char32_t> repaired_lower_case(char32_t code_point) {
  const auto entry = std::partition_point(std::begin(kLowerCase), std::end(kLowerCase),
                                          [&](const CasePair& pair) { return pair.upper < code_point; });
  if (entry == std::end(kLowerCase) || entry->upper != code_point) return std::nullopt;
  return entry->lower;
}

std::span<const CodePointRange> not_punctuation() { return kNotPunctuation; }
std::span<const CodePointRange> also_punctuation() { return kAlsoPunctuation; }
std::span<const CodePointRange> also_numeric() { return kAlsoNumeric; }

}  // namespace minitorch::models
