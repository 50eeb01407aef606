// Decomposition, canonical order and composition; the character data comes from utf8proc and the repair tables.
#include "models/tokenizer/unicode_normalize.h"

#include <utf8proc.h>

#include <algorithm>
#include <vector>

#include "minitorch/base/check.h"
#include "models/tokenizer/unicode_repair.h"
#include "models/tokenizer/utf8_iterate.h"

namespace minitorch::models {
namespace {

struct Character {
  char32_t code_point;
  int combining_class;
};

bool composes(NormalForm form) { return form == NormalForm::kC || form == NormalForm::kKC; }
bool is_compatible(NormalForm form) { return form == NormalForm::kKC || form == NormalForm::kKD; }

int combining_class(char32_t code_point) {
  if (code_point < 0x300 || is_inert_in_normalization(code_point)) return 0;
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(code_point))->combining_class;
}

// Appends the full decomposition of one character.
void decompose(char32_t code_point, NormalForm form, std::vector<Character>& characters) {
  if (code_point < 0x80 || is_inert_in_normalization(code_point)) {
    characters.push_back({code_point, 0});
    return;
  }
  utf8proc_int32_t parts[32];  // the longest decomposition has 18 (U+FDFA)
  int boundary_class = 0;
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | (is_compatible(form) ? UTF8PROC_COMPAT : 0));
  const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code_point), parts, std::ssize(parts),
                                             options, &boundary_class);
  MT_CHECK(count >= 0 && count <= std::ssize(parts), "normalize: utf8proc cannot decompose U+{:04X}: {}",
           static_cast<std::uint32_t>(code_point), count);
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    const auto part = static_cast<char32_t>(parts[i]);
    characters.push_back({part, combining_class(part)});
  }
}

// Canonical order: every run of marks is sorted by combining class, equal classes stay in order.
void sort_marks(std::vector<Character>& characters) {
  const auto is_starter = [](const Character& c) { return c.combining_class == 0; };
  for (auto run = characters.begin(); run != characters.end();) {
    run = std::find_if_not(run, characters.end(), is_starter);
    const auto end = std::find_if(run, characters.end(), is_starter);
    std::stable_sort(run, end,
                     [](const Character& a, const Character& b) { return a.combining_class < b.combining_class; });
    run = end;
  }
}

// Hangul syllables are composed by arithmetic (Unicode standard, section 3.12). utf8proc 2.8 takes U+11A7 for a
// trailing consonant.
char32_t compose_hangul(char32_t first, char32_t second) {
  constexpr char32_t kSyllables = 0xAC00, kLeading = 0x1100, kVowels = 0x1161, kTrailing = 0x11A7;
  constexpr char32_t kNumLeading = 19, kNumVowels = 21, kNumTrailing = 28;
  if (first >= kLeading && first < kLeading + kNumLeading && second >= kVowels && second < kVowels + kNumVowels) {
    return kSyllables + ((first - kLeading) * kNumVowels + (second - kVowels)) * kNumTrailing;
  }
  const bool is_open_syllable = first >= kSyllables && first < kSyllables + kNumLeading * kNumVowels * kNumTrailing &&
                                (first - kSyllables) % kNumTrailing == 0;
  if (is_open_syllable && second > kTrailing && second < kTrailing + kNumTrailing) return first + (second - kTrailing);
  return 0;
}

// The primary composite of two characters, 0 when there is none.
char32_t compose_pair(char32_t first, char32_t second) {
  if (second < 0x300) return 0;
  if (second >= 0x1100 && second < 0x1200) return compose_hangul(first, second);
  if (is_inert_in_normalization(first) || is_inert_in_normalization(second)) return 0;
  utf8proc_int32_t pair[2] = {static_cast<utf8proc_int32_t>(first), static_cast<utf8proc_int32_t>(second)};
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  if (utf8proc_normalize_utf32(pair, 2, options) != 1) return 0;
  const auto composite = static_cast<char32_t>(pair[0]);
  return is_inert_in_normalization(composite) ? 0 : composite;
}

void compose(std::vector<Character>& characters) {
  std::size_t size = 0;                                // characters kept so far
  std::size_t starter = static_cast<std::size_t>(-1);  // the last starter among them
  for (const Character& next : characters) {
    // A mark is blocked from the starter by a mark of the same or a higher class in between.
    const bool blocked = starter == static_cast<std::size_t>(-1) ||
                         (size - starter > 1 && characters[size - 1].combining_class >= next.combining_class);
    const char32_t composite = blocked ? 0 : compose_pair(characters[starter].code_point, next.code_point);
    if (composite != 0) {
      characters[starter].code_point = composite;
      continue;
    }
    if (next.combining_class == 0) starter = size;
    characters[size++] = next;
  }
  characters.resize(size);
}

}  // namespace

std::string normalize_unicode(std::string_view text, NormalForm form) {
  // Characters below this limit are their own decomposition, and compose with nothing in front of them.
  const char32_t inert_limit = composes(form) && !is_compatible(form) ? 0x300 : 0x80;
  const auto is_plain = [&](std::size_t position) {
    return position == text.size() || code_point_at(text, position) < inert_limit;
  };
  std::string result;
  result.reserve(text.size());
  std::vector<Character> characters;
  for (std::size_t position = 0; position < text.size();) {
    std::size_t next = position + utf8_length(text[position]);
    if (is_plain(position) && is_plain(next)) {
      result += text.substr(position, next - position);
      position = next;
      continue;
    }
    // A stretch that begins with a character to which the following ones may belong, up to the next plain one.
    characters.clear();
    decompose(code_point_at(text, position), form, characters);
    for (; !is_plain(next); next += utf8_length(text[next])) decompose(code_point_at(text, next), form, characters);
    sort_marks(characters);
    if (composes(form)) compose(characters);
    for (const Character& character : characters) append_utf8(result, character.code_point);
    position = next;
  }
  return result;
}

std::string lower_case(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t position = 0; position < text.size(); position += utf8_length(text[position])) {
    const char32_t code_point = code_point_at(text, position);
    if (code_point == 0x130) {  // the one character whose lower case is two: i and a dot above
      result += "i\u0307";
    } else if (const std::optional<char32_t> repaired = repaired_lower_case(code_point)) {
      append_utf8(result, *repaired);
    } else {
      append_utf8(result, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code_point))));
    }
  }
  return result;
}

}  // namespace minitorch::models
