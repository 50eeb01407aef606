// What pre-tokenizers, normalizers and decoders search for: a text or a regular expression.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace minitorch::models {

struct TextRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  [[nodiscard]] bool empty() const { return begin == end; }
};

// Working memory of searches; one per call of the tokenizer, shared by all its patterns.
class PatternScratch {
 public:
  PatternScratch();
  ~PatternScratch();
  PatternScratch(const PatternScratch&) = delete;
  PatternScratch& operator=(const PatternScratch&) = delete;

 private:
  friend class Pattern;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class Pattern {
 public:
  [[nodiscard]] static Pattern literal(std::string text);
  // `regex` in Oniguruma's syntax. Throws IoError that begins with `where`.
  [[nodiscard]] static Pattern regex(std::string_view regex, std::string_view where);
  // `regex` in PCRE2's syntax, for patterns of our own.
  [[nodiscard]] static Pattern pcre2(std::string_view regex, std::string_view where);

  [[nodiscard]] bool is_regex() const { return regex_ != nullptr; }
  [[nodiscard]] const std::string& literal_text() const { return literal_; }  // "" for a regular expression

  // Appends all matches in `text` (valid UTF-8), from left to right, not overlapping. An empty match is left out where
  // the previous match ends. Regular expressions are to see stand-ins (unicode_repair.h). Throws Error when a regular
  // expression takes too many steps.
  void find_all(std::string_view text, PatternScratch& scratch, std::vector<TextRange>& matches) const;

 private:
  struct Regex;
  friend class PatternScratch;
  std::string literal_;
  std::shared_ptr<const Regex> regex_;
};

}  // namespace minitorch::models
