// Where Debian 12's PCRE2 10.42 and utf8proc 2.8 know another Unicode version than the reference, the Hugging Face
// tokenizers library. The tables are made and checked by scripts/make_unicode_repair.py. They do no harm where the
// installed libraries are newer.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace minitorch::models {

struct CodePointRange {
  char32_t first = 0;
  char32_t last = 0;
};

// Text to match regular expressions against: characters that PCRE2 classifies differently (those that came with Unicode
// 15 and 16, and U+180E) are replaced by others of the right class and the same length, so that offsets stay. Nothing
// when there is none to replace.
[[nodiscard]] std::optional<std::string> with_stand_ins(std::string_view text);

// The reference neither reorders, decomposes nor composes this character: its tables are older than the character.
[[nodiscard]] bool is_inert_in_normalization(char32_t code_point);

// The lower case of one character, where utf8proc does not know it.
[[nodiscard]] std::optional<char32_t> repaired_lower_case(char32_t code_point);

// What the reference's Punctuation pre-tokenizer leaves out of category P and takes in beside it.
[[nodiscard]] std::span<const CodePointRange> not_punctuation();
[[nodiscard]] std::span<const CodePointRange> also_punctuation();
// What the reference's Digits pre-tokenizer takes in beside category N.
[[nodiscard]] std::span<const CodePointRange> also_numeric();

}  // namespace minitorch::models
