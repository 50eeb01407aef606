// What each normalizer does.
#include "models/tokenizer/normalizer.h"

#include "models/tokenizer/byte_level.h"
#include "models/tokenizer/unicode_repair.h"
#include "models/tokenizer/white_space.h"

namespace minitorch::models {

void UnicodeNormalizer::apply(NormalizedText& text, PatternScratch& /*scratch*/) const {
  text.text = normalize_unicode(text.text, form_);
}

void LowercaseNormalizer::apply(NormalizedText& text, PatternScratch& /*scratch*/) const {
  text.text = lower_case(text.text);
}

void ByteLevelNormalizer::apply(NormalizedText& text, PatternScratch& /*scratch*/) const {
  std::string result;
  append_byte_characters(text.text, result);
  text.text = std::move(result);
}

void PrependNormalizer::apply(NormalizedText& text, PatternScratch& /*scratch*/) const {
  if (!text.text.empty()) text.text.insert(0, prefix_);
}

std::string replace_all(std::string_view text, const Pattern& pattern, std::string_view content,
                        PatternScratch& scratch) {
  std::vector<TextRange> matches;
  const std::optional<std::string> stand_ins = pattern.is_regex() ? with_stand_ins(text) : std::nullopt;
  pattern.find_all(stand_ins ? *stand_ins : text, scratch, matches);
  std::string result;
  result.reserve(text.size());
  std::size_t end = 0;
  for (const TextRange& match : matches) {
    result += text.substr(end, match.begin - end);
    result += content;
    end = match.end;
  }
  result += text.substr(end);
  return result;
}

void ReplaceNormalizer::apply(NormalizedText& text, PatternScratch& scratch) const {
  text.text = replace_all(text.text, pattern_, content_, scratch);
}

void StripNormalizer::apply(NormalizedText& text, PatternScratch& /*scratch*/) const {
  if (right_) text.text.resize(text.text.size() - trailing_white_space(text.text));
  const std::size_t leading = left_ ? leading_white_space(text.text) : 0;
  if (leading == 0) return;
  text.text.erase(0, leading);
  text.at_start = false;
}

}  // namespace minitorch::models
