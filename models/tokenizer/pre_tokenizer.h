// Pre-tokenizers: text to pieces, which the model then encodes one by one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/tokenizer/pattern.h"
#include "models/tokenizer/split.h"

namespace minitorch::models {

// Text and the pieces of it, in order and without overlap; what lies between them was removed.
class PreTokenizedText {
 public:
  // `at_start`: `text` begins where the whole input began.
  PreTokenizedText(std::string text, bool at_start);

  [[nodiscard]] const std::vector<TextRange>& pieces() const { return pieces_; }
  [[nodiscard]] std::string_view piece(TextRange range) const {
    return std::string_view(text_).substr(range.begin, range.end - range.begin);
  }
  // True when the piece begins where the whole input began.
  [[nodiscard]] bool is_at_start(TextRange range) const { return at_start_ && range.begin == 0; }

  // Splits every piece at the matches of `pattern`.
  void split(const Pattern& pattern, SplitBehavior behavior, bool invert, PatternScratch& scratch);

  // Replaces the text of every piece by what `rewrite(piece, is_at_start, text)` appends to `text`.
  template <typename Rewrite>
  void rewrite(const Rewrite& rewrite) {
    std::string text;
    text.reserve(text_.size() + text_.size() / 2);
    const bool at_start = !pieces_.empty() && is_at_start(pieces_.front());
    for (TextRange& range : pieces_) {
      const std::size_t begin = text.size();
      rewrite(piece(range), is_at_start(range), text);
      range = {begin, text.size()};
    }
    replace_text(std::move(text), at_start);
  }

 private:
  void replace_text(std::string text, bool at_start);
  // The text that regular expressions see.
  [[nodiscard]] std::string_view searchable_text();

  std::string text_;
  std::optional<std::string> stand_ins_;  // where it differs from text_
  bool stand_ins_known_ = false;
  bool at_start_;
  std::vector<TextRange> pieces_;
};

class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  virtual void apply(PreTokenizedText& text, PatternScratch& scratch) const = 0;
};
using PreTokenizerPtr = std::unique_ptr<const PreTokenizer>;

// Split, Digits, Punctuation, Whitespace, WhitespaceSplit, CharDelimiterSplit and FixedLength differ in the pattern
// only.
class SplitPreTokenizer : public PreTokenizer {
 public:
  SplitPreTokenizer(Pattern pattern, SplitBehavior behavior, bool invert)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}
  void apply(PreTokenizedText& text, PatternScratch& scratch) const override {
    text.split(pattern_, behavior_, invert_, scratch);
  }

 private:
  Pattern pattern_;
  SplitBehavior behavior_;
  bool invert_;
};

// Bytes as characters, after splitting by GPT-2's pattern where `use_regex` is set.
class ByteLevelPreTokenizer : public PreTokenizer {
 public:
  ByteLevelPreTokenizer(bool add_prefix_space, bool use_regex);
  void apply(PreTokenizedText& text, PatternScratch& scratch) const override;

 private:
  bool add_prefix_space_;
  std::optional<Pattern> words_;
};

enum class PrependScheme : std::uint8_t { kNever, kFirst, kAlways };

// Spaces become `replacement`, which is also put in front of pieces, and the pieces are split there.
class MetaspacePreTokenizer : public PreTokenizer {
 public:
  MetaspacePreTokenizer(std::string replacement, PrependScheme scheme, bool split);
  void apply(PreTokenizedText& text, PatternScratch& scratch) const override;

 private:
  std::string replacement_;
  Pattern separator_;
  PrependScheme scheme_;
  bool split_;
};

class PreTokenizerSequence : public PreTokenizer {
 public:
  explicit PreTokenizerSequence(std::vector<PreTokenizerPtr> steps) : steps_(std::move(steps)) {}
  void apply(PreTokenizedText& text, PatternScratch& scratch) const override {
    for (const PreTokenizerPtr& step : steps_) step->apply(text, scratch);
  }

 private:
  std::vector<PreTokenizerPtr> steps_;
};

}  // namespace minitorch::models
