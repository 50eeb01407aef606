// Normalizers: what happens to text before it is split.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/tokenizer/pattern.h"
#include "models/tokenizer/unicode_normalize.h"

namespace minitorch::models {

struct NormalizedText {
  std::string text = {};
  bool at_start = false;  // begins with what the whole input begins with (or with what was put in front of that)
};

class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual void apply(NormalizedText& text, PatternScratch& scratch) const = 0;
};
using NormalizerPtr = std::unique_ptr<const Normalizer>;

// NFC, NFD, NFKC, NFKD.
class UnicodeNormalizer : public Normalizer {
 public:
  explicit UnicodeNormalizer(NormalForm form) : form_(form) {}
  void apply(NormalizedText& text, PatternScratch& scratch) const override;

 private:
  NormalForm form_;
};

class LowercaseNormalizer : public Normalizer {
 public:
  void apply(NormalizedText& text, PatternScratch& scratch) const override;
};

// Bytes as characters.
class ByteLevelNormalizer : public Normalizer {
 public:
  void apply(NormalizedText& text, PatternScratch& scratch) const override;
};

// Puts `prefix` in front of text that is not empty.
class PrependNormalizer : public Normalizer {
 public:
  explicit PrependNormalizer(std::string prefix) : prefix_(std::move(prefix)) {}
  void apply(NormalizedText& text, PatternScratch& scratch) const override;

 private:
  std::string prefix_;
};

class ReplaceNormalizer : public Normalizer {
 public:
  ReplaceNormalizer(Pattern pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void apply(NormalizedText& text, PatternScratch& scratch) const override;

 private:
  Pattern pattern_;
  std::string content_;
};

// Removes white space at the ends.
class StripNormalizer : public Normalizer {
 public:
  StripNormalizer(bool left, bool right) : left_(left), right_(right) {}
  void apply(NormalizedText& text, PatternScratch& scratch) const override;

 private:
  bool left_;
  bool right_;
};

class NormalizerSequence : public Normalizer {
 public:
  explicit NormalizerSequence(std::vector<NormalizerPtr> steps) : steps_(std::move(steps)) {}
  void apply(NormalizedText& text, PatternScratch& scratch) const override {
    for (const NormalizerPtr& step : steps_) step->apply(text, scratch);
  }

 private:
  std::vector<NormalizerPtr> steps_;
};

// `text` with every match of `pattern` replaced by `content`, taken literally.
[[nodiscard]] std::string replace_all(std::string_view text, const Pattern& pattern, std::string_view content,
                                      PatternScratch& scratch);

}  // namespace minitorch::models
