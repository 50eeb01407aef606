// The pre-tokenizers that do more than split.
#include "models/tokenizer/pre_tokenizer.h"

#include <utility>

#include "models/tokenizer/byte_level.h"
#include "models/tokenizer/unicode_repair.h"

namespace minitorch::models {
namespace {

// GPT-2's pattern: contractions, then words, numbers and punctuation with one space in front, then white space.
constexpr std::string_view kGpt2Words = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

}  // namespace

PreTokenizedText::PreTokenizedText(std::string text, bool at_start) : text_(std::move(text)), at_start_(at_start) {
  if (!text_.empty()) pieces_.push_back({0, text_.size()});
}

std::string_view PreTokenizedText::searchable_text() {
  if (!stand_ins_known_) stand_ins_ = with_stand_ins(text_);
  stand_ins_known_ = true;
  return stand_ins_ ? *stand_ins_ : text_;
}

void PreTokenizedText::replace_text(std::string text, bool at_start) {
  text_ = std::move(text);
  at_start_ = at_start;
  stand_ins_.reset();
  stand_ins_known_ = false;
}

void PreTokenizedText::split(const Pattern& pattern, SplitBehavior behavior, bool invert, PatternScratch& scratch) {
  const std::string_view text = pattern.is_regex() ? searchable_text() : text_;
  std::vector<TextRange> pieces;
  pieces.reserve(pieces_.size());
  std::vector<TextRange> matches;
  for (const TextRange& range : pieces_) {
    matches.clear();
    pattern.find_all(text.substr(range.begin, range.end - range.begin), scratch, matches);
    split_at(range, matches, behavior, invert, pieces);
  }
  pieces_ = std::move(pieces);
}

ByteLevelPreTokenizer::ByteLevelPreTokenizer(bool add_prefix_space, bool use_regex)
    : add_prefix_space_(add_prefix_space) {
  if (use_regex) words_ = Pattern::pcre2(kGpt2Words, "ByteLevel");
}

void ByteLevelPreTokenizer::apply(PreTokenizedText& text, PatternScratch& scratch) const {
  if (add_prefix_space_) {
    text.rewrite([](std::string_view piece, bool, std::string& result) {
      if (!piece.starts_with(' ')) result += ' ';
      result += piece;
    });
  }
  if (words_) text.split(*words_, SplitBehavior::kIsolated, /*invert=*/false, scratch);
  text.rewrite([](std::string_view piece, bool, std::string& result) { append_byte_characters(piece, result); });
}

MetaspacePreTokenizer::MetaspacePreTokenizer(std::string replacement, PrependScheme scheme, bool split)
    : replacement_(std::move(replacement)),
      separator_(Pattern::literal(replacement_)),
      scheme_(scheme),
      split_(split) {}

void MetaspacePreTokenizer::apply(PreTokenizedText& text, PatternScratch& scratch) const {
  text.rewrite([&](std::string_view piece, bool is_at_start, std::string& result) {
    const bool may_prepend = scheme_ == PrependScheme::kAlways || (scheme_ == PrependScheme::kFirst && is_at_start);
    if (may_prepend && !piece.starts_with(' ') && !piece.starts_with(replacement_)) result += replacement_;
    for (const char c : piece) {
      if (c == ' ') {
        result += replacement_;
      } else {
        result += c;
      }
    }
  });
  if (split_) text.split(separator_, SplitBehavior::kMergedWithNext, /*invert=*/false, scratch);
}

}  // namespace minitorch::models
