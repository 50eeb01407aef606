// Every stage holds back only what the tokens to come can change.
#include "models/tokenizer/decode_stages.h"

#include <charconv>
#include <optional>

#include "minitorch/base/utf8.h"
#include "models/tokenizer/byte_level.h"
#include "models/tokenizer/normalizer.h"  // replace_all
#include "models/tokenizer/utf8_iterate.h"

namespace minitorch::models {
namespace {

constexpr std::string_view kReplacementCharacter = "\uFFFD";

// A stage that wants tokens whole.
class WholeTokenStage : public DecodeStage {
 public:
  explicit WholeTokenStage(DecodeStage& next) : next_(next) {}

  void push(std::string_view fragment, bool ends_token) final {
    if (ends_token && partial_.empty()) return push_token(fragment);
    partial_ += fragment;
    if (!ends_token) return;
    push_token(partial_);
    partial_.clear();
  }
  void finish() override { next_.finish(); }

 protected:
  virtual void push_token(std::string_view token) = 0;
  DecodeStage& next() { return next_; }

 private:
  DecodeStage& next_;
  std::string partial_;
};

class ByteLevelStage : public WholeTokenStage {
 public:
  using WholeTokenStage::WholeTokenStage;

  void finish() override {
    next().push(replace_invalid_utf8(bytes_), /*ends_token=*/true);
    next().finish();
  }

 private:
  void push_token(std::string_view token) override {
    append_bytes_of_characters(token, bytes_);
    const std::size_t size = bytes_.size() - incomplete_utf8_suffix(bytes_);
    if (size == 0) return;
    next().push(replace_invalid_utf8(std::string_view(bytes_).substr(0, size)), /*ends_token=*/false);
    bytes_.erase(0, size);
  }

  std::string bytes_;  // the beginning of a character
};

// Bytes that are no valid text as a whole become one U+FFFD each, so nothing of a run is certain before its end.
class ByteFallbackStage : public WholeTokenStage {
 public:
  using WholeTokenStage::WholeTokenStage;

  void finish() override {
    end_run();
    next().finish();
  }

 private:
  static std::optional<char> byte_of(std::string_view token) {
    if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with('>')) return std::nullopt;
    // A plus sign in front of a digit counts as part of a number in the reference.
    const char* begin = token.data() + (token[3] == '+' ? 4 : 3);
    unsigned value = 0;
    const auto [end, error] = std::from_chars(begin, token.data() + 5, value, 16);
    if (error != std::errc() || end != token.data() + 5) return std::nullopt;
    return static_cast<char>(value);
  }

  void push_token(std::string_view token) override {
    if (const std::optional<char> byte = byte_of(token)) {
      run_ += *byte;
      return;
    }
    end_run();
    next().push(token, /*ends_token=*/true);
  }

  void end_run() {
    if (run_.empty()) return;
    if (is_valid_utf8(run_)) {
      next().push(run_, /*ends_token=*/true);
    } else {
      for (std::size_t i = 0; i < run_.size(); ++i) next().push(kReplacementCharacter, /*ends_token=*/true);
    }
    run_.clear();
  }

  std::string run_;
};

class RegexReplaceStage : public WholeTokenStage {
 public:
  RegexReplaceStage(const DecoderStep& step, DecodeStage& next, PatternScratch& scratch)
      : WholeTokenStage(next), step_(step), scratch_(scratch) {}

 private:
  void push_token(std::string_view token) override {
    next().push(replace_all(token, step_.pattern, step_.content, scratch_), /*ends_token=*/true);
  }

  const DecoderStep& step_;
  PatternScratch& scratch_;
};

// A stage that works on fragments as they come.
class FragmentStage : public DecodeStage {
 public:
  FragmentStage(const DecoderStep& step, DecodeStage& next) : step_(step), next_(next) {}
  void finish() override { next_.finish(); }

 protected:
  const DecoderStep& step() const { return step_; }
  DecodeStage& next() { return next_; }

 private:
  const DecoderStep& step_;
  DecodeStage& next_;
};

class TextReplaceStage : public FragmentStage {
 public:
  using FragmentStage::FragmentStage;

  void push(std::string_view fragment, bool ends_token) override {
    const std::string& pattern = step().pattern.literal_text();
    text_ += fragment;
    std::string result;
    std::size_t begin = 0;
    for (std::size_t match = text_.find(pattern); match != std::string::npos; match = text_.find(pattern, begin)) {
      result.append(text_, begin, match - begin);
      result += step().content;
      begin = match + pattern.size();
    }
    const std::size_t end =
        ends_token ? text_.size() : text_.size() - open_match(std::string_view(text_).substr(begin), pattern);
    result.append(text_, begin, end - begin);
    text_.erase(0, end);
    next().push(result, ends_token);
  }

 private:
  // Bytes at the end of `text` that may be the beginning of a match.
  static std::size_t open_match(std::string_view text, std::string_view pattern) {
    std::size_t size = std::min(text.size(), pattern.size() - 1);
    while (size > 0 && !pattern.starts_with(text.substr(text.size() - size))) --size;
    return size;
  }

  std::string text_;
};

class FuseStage : public FragmentStage {
 public:
  using FragmentStage::FragmentStage;
  void push(std::string_view fragment, bool /*ends_token*/) override { next().push(fragment, /*ends_token=*/false); }
  void finish() override {
    next().push({}, /*ends_token=*/true);
    next().finish();
  }
};

class StripStage : public FragmentStage {
 public:
  using FragmentStage::FragmentStage;

  void push(std::string_view fragment, bool ends_token) override {
    std::string result;
    for (std::size_t position = 0; position < fragment.size();) {
      const std::string_view character = fragment.substr(position, utf8_length(fragment[position]));
      position += character.size();
      if (character != step().content) {
        at_start_ = false;
        for (; num_held_ > 0; --num_held_) result += step().content;
        result += character;
      } else if (at_start_ && num_dropped_ < step().num_start) {
        ++num_dropped_;
      } else if (num_held_ < step().num_stop) {
        ++num_held_;
      } else {
        result += character;
      }
    }
    next().push(result, ends_token);
    if (!ends_token) return;
    at_start_ = true;
    num_dropped_ = num_held_ = 0;
  }

 private:
  bool at_start_ = true;
  std::size_t num_dropped_ = 0;  // at the start of the token
  std::size_t num_held_ = 0;     // stripped if the token ends here
};

class MetaspaceStage : public FragmentStage {
 public:
  using FragmentStage::FragmentStage;

  void push(std::string_view fragment, bool ends_token) override {
    const bool drop = is_first_ && step().scheme != PrependScheme::kNever;
    std::string result;
    for (std::size_t position = 0; position < fragment.size();) {
      const std::string_view character = fragment.substr(position, utf8_length(fragment[position]));
      position += character.size();
      if (character != step().content) {
        result += character;
      } else if (!drop) {
        result += ' ';
      }
    }
    next().push(result, ends_token);
    if (ends_token) is_first_ = false;
  }

 private:
  bool is_first_ = true;
};

class JoinStage : public FragmentStage {
 public:
  using FragmentStage::FragmentStage;

  void push(std::string_view fragment, bool ends_token) override {
    if (at_token_start_ && !is_first_) next().push(" ", /*ends_token=*/false);
    next().push(fragment, ends_token);
    at_token_start_ = ends_token;
    is_first_ = false;
  }

 private:
  bool is_first_ = true;
  bool at_token_start_ = true;
};

}  // namespace

std::unique_ptr<DecodeStage> make_decode_stage(const DecoderStep& step, DecodeStage& next, PatternScratch& scratch) {
  switch (step.kind) {
    case DecoderStep::Kind::kByteLevel: return std::make_unique<ByteLevelStage>(next);
    case DecoderStep::Kind::kReplace:
      if (step.pattern.is_regex()) return std::make_unique<RegexReplaceStage>(step, next, scratch);
      return std::make_unique<TextReplaceStage>(step, next);
    case DecoderStep::Kind::kByteFallback: return std::make_unique<ByteFallbackStage>(next);
    case DecoderStep::Kind::kFuse: return std::make_unique<FuseStage>(step, next);
    case DecoderStep::Kind::kStrip: return std::make_unique<StripStage>(step, next);
    case DecoderStep::Kind::kMetaspace: return std::make_unique<MetaspaceStage>(step, next);
    case DecoderStep::Kind::kJoinWithSpaces: break;
  }
  return std::make_unique<JoinStage>(step, next);
}

}  // namespace minitorch::models
