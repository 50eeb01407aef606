// The rewriting of groups and quantifiers. Escapes and character classes are in regex_atoms.cpp.
#include "models/tokenizer/regex_syntax.h"

#include <cctype>
#include <optional>
#include <vector>

#include "minitorch/base/check.h"
#include "models/tokenizer/regex_atoms.h"
#include "models/tokenizer/utf8_iterate.h"

namespace minitorch::models {
namespace {

struct Interval {
  std::string text;  // as PCRE2 wants it
  std::size_t size;  // bytes in the pattern
  bool fixed;        // {n}
};

// The interval that begins with the "{" at the start of `text`; nothing when it is a literal brace.
std::optional<Interval> interval_at(std::string_view text) {
  std::size_t position = 1;
  const auto digits = [&] {
    const std::size_t begin = position;
    while (position < text.size() && std::isdigit(static_cast<unsigned char>(text[position])) != 0) ++position;
    return std::string(text.substr(begin, position - begin));
  };
  const std::string low = digits();
  const bool comma = position < text.size() && text[position] == ',';
  if (comma) ++position;
  const std::string high = comma ? digits() : std::string();
  if (position == text.size() || text[position] != '}' || (low.empty() && high.empty())) return std::nullopt;
  const std::string bounds = (low.empty() ? "0" : low) + (comma ? "," + high : "");
  return Interval{.text = "{" + bounds + "}", .size = position + 1, .fixed = !comma};
}

class Translator {
 public:
  explicit Translator(std::string_view pattern) : pattern_(pattern) {}

  std::string run() {
    groups_.push_back({});
    while (position_ < pattern_.size()) step();
    MT_CHECK(groups_.size() == 1, "a group is not closed");
    close_options();
    return std::move(out_);
  }

 private:
  struct Group {
    std::size_t begin = 0;  // of its text in out_
    int num_options = 0;    // "(?i:" opened by an option that holds to the end of the group
  };

  void step() {
    const char c = pattern_[position_];
    switch (c) {
      case '(': return open_group();
      case ')': return close_group();
      case '*':
      case '+':
      case '?': return quantifier(std::string(1, c), 1, /*may_be_possessive=*/true, /*may_be_lazy=*/true);
      case '{':
        if (const auto interval = interval_at(pattern_.substr(position_))) {
          return quantifier(interval->text, interval->size, /*may_be_possessive=*/false,
                            /*may_be_lazy=*/!interval->fixed);
        }
        return atom("\\{", 1);
      case '|':
        out_ += c;
        ++position_;
        return forget_atom();
      case '[': {
        const Translated set = translate_class(pattern_, position_);
        return atom(set.text, set.size);
      }
      case '\\': {
        const Translated escape = translate_escape(pattern_, position_);
        return atom(escape.text, escape.size);
      }
      default: return atom(pattern_.substr(position_, utf8_length(c)), utf8_length(c));
    }
  }

  // Writes something that a quantifier may follow.
  void atom(std::string_view text, std::size_t size) {
    atom_begin_ = out_.size();
    quantified_ = false;
    out_ += text;
    position_ += size;
  }

  void forget_atom() { atom_begin_.reset(); }

  void wrap_atom() {
    out_.insert(*atom_begin_, "(?:");
    out_ += ')';
  }

  void quantifier(const std::string& text, std::size_t size, bool may_be_possessive, bool may_be_lazy) {
    MT_CHECK(atom_begin_.has_value(), "nothing stands in front of the quantifier {}", text);
    if (quantified_) wrap_atom();  // a**, a{2}+ and a{2}? repeat the repeated
    out_ += text;
    position_ += size;
    const char suffix = position_ < pattern_.size() ? pattern_[position_] : '\0';
    if ((suffix == '+' && may_be_possessive) || (suffix == '?' && may_be_lazy)) {
      out_ += suffix;
      ++position_;
    }
    quantified_ = true;
  }

  void open_group() {
    const std::string_view rest = pattern_.substr(position_);
    MT_CHECK(!rest.starts_with("(*") && !rest.starts_with("(?{"), "callouts are not supported");
    if (rest.starts_with("(?#")) return skip_comment();
    if (!rest.starts_with("(?")) return enter("(", 1);
    for (const std::string_view opening : {"(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!"}) {
      if (rest.starts_with(opening)) return enter(opening, opening.size());
    }
    for (const auto& [opening, end] : {std::pair("(?<", '>'), std::pair("(?'", '\'')}) {
      if (!rest.starts_with(opening)) continue;
      const std::size_t close = rest.find(end, 3);
      MT_CHECK(close != std::string_view::npos, "the name of a group is not closed");
      return enter(rest.substr(0, close + 1), close + 1);
    }
    open_options(rest);
  }

  void enter(std::string_view opening, std::size_t size) {
    MT_CHECK(groups_.size() < kMaxDepth, "groups are nested more than {} deep", kMaxDepth);
    groups_.push_back({.begin = out_.size()});
    out_ += opening;
    position_ += size;
    forget_atom();
  }

  // (?i-m:...) for a group, (?i) up to the end of the group, alternatives included.
  void open_options(std::string_view rest) {
    std::string options;
    std::size_t size = 2;
    for (; size < rest.size() && rest[size] != ':' && rest[size] != ')'; ++size) {
      const char option = rest[size];
      MT_CHECK(option == 'i' || option == 'm' || option == '-', "the group (?{} is not supported",
               rest.substr(2, size - 1));
      options += option == 'm' ? 's' : option;  // the dot matches newlines
    }
    MT_CHECK(size < rest.size(), "a group is not closed");
    const std::string opening = "(?" + options + ":";
    if (rest[size] == ':') return enter(opening, size + 1);
    out_ += opening;
    position_ += size + 1;
    ++groups_.back().num_options;
    forget_atom();
  }

  void close_options() { out_.append(static_cast<std::size_t>(groups_.back().num_options), ')'); }

  void close_group() {
    MT_CHECK(groups_.size() > 1, "a group is closed that was not opened");
    close_options();
    const std::size_t begin = groups_.back().begin;
    groups_.pop_back();
    atom(")", 1);
    atom_begin_ = begin;
  }

  void skip_comment() {
    const std::size_t close = pattern_.find(')', position_);
    MT_CHECK(close != std::string_view::npos, "a comment is not closed");
    position_ = close + 1;
  }

  static constexpr std::size_t kMaxDepth = 100;

  std::string_view pattern_;
  std::size_t position_ = 0;
  std::string out_;
  std::vector<Group> groups_;
  std::optional<std::size_t> atom_begin_;  // of what a quantifier would repeat
  bool quantified_ = false;
};

}  // namespace

std::string to_pcre2_syntax(std::string_view pattern) { return Translator(pattern).run(); }

}  // namespace minitorch::models
