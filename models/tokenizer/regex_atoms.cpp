// Escapes and classes. A class becomes a PCRE2 class where it can, else a choice of classes that match one character
// each.
#include "models/tokenizer/regex_atoms.h"

#include <cctype>
#include <charconv>
#include <optional>
#include <vector>

#include "minitorch/base/check.h"
#include "models/tokenizer/regex_properties.h"
#include "models/tokenizer/utf8_iterate.h"

namespace minitorch::models {
namespace {

constexpr int kMaxClassDepth = 32;

// One escape: a character, a set of characters, or text that means the same to both libraries outside of classes.
struct Escape {
  enum class Kind { kCharacter, kSet, kVerbatim };
  Kind kind = Kind::kCharacter;
  char32_t character = 0;
  std::string text = {};  // the members of the set, or the verbatim text
  bool negated = false;   // of a set
  std::size_t size = 0;
};

std::string hex_escape(char32_t character) { return fmt::format("\\x{{{:X}}}", static_cast<std::uint32_t>(character)); }

// The number of `max_digits` digits at most at the start of `text`; at least one.
char32_t number_at(std::string_view text, std::size_t max_digits, int base, std::size_t& num_digits) {
  std::uint32_t value = 0;
  const char* begin = text.data();
  const auto [end, error] = std::from_chars(begin, begin + std::min(max_digits, text.size()), value, base);
  MT_CHECK(error == std::errc() && value <= 0x10FFFF, "expected the number of a character, got \"{}\"",
           text.substr(0, max_digits));
  num_digits = static_cast<std::size_t>(end - begin);
  return value;
}

// `rest` begins with the backslash.
Escape hex_character(std::string_view rest) {
  Escape escape;
  std::size_t num_digits = 0;
  if (rest.starts_with("\\x{")) {
    escape.character = number_at(rest.substr(3), 8, 16, num_digits);
    escape.size = 3 + num_digits + 1;
    MT_CHECK(rest.size() >= escape.size && rest[escape.size - 1] == '}', "\\x{{ is not closed");
    return escape;
  }
  const bool is_unicode = rest.starts_with("\\u");
  escape.character = number_at(rest.substr(2), is_unicode ? 4 : 2, 16, num_digits);
  escape.size = 2 + num_digits;
  MT_CHECK(!is_unicode || num_digits == 4, "\\u needs four digits");
  MT_CHECK(is_unicode || escape.character < 0x80, "raw bytes (\\x80 and above) are not supported");
  return escape;
}

Escape property(std::string_view rest) {
  MT_CHECK(rest.size() > 3 && rest[2] == '{', "expected \\p{{name}}");
  const std::size_t close = rest.find('}');
  MT_CHECK(close != std::string_view::npos, "\\p{{ is not closed");
  std::string_view name = rest.substr(3, close - 3);
  const bool caret = name.starts_with('^');
  if (caret) name.remove_prefix(1);
  return {.kind = Escape::Kind::kSet,
          .text = property_members(name),
          .negated = (rest[1] == 'P') != caret,
          .size = close + 1};
}

std::optional<char32_t> control_character(char letter) {
  switch (letter) {
    case 'a': return 0x07;
    case 'e': return 0x1B;
    case 'f': return 0x0C;
    case 'n': return 0x0A;
    case 'r': return 0x0D;
    case 't': return 0x09;
    case 'v': return 0x0B;
    default: return std::nullopt;
  }
}

// Outside of classes, a word takes in the superscript digits and the fractions below U+0100 too.
std::string free_word_members() { return posix_members("word") + R"(\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE})"; }

std::string boundary(bool negated) {
  const std::string word = fmt::format("[{}]", free_word_members());
  return negated ? fmt::format("(?:(?<={0})(?={0})|(?<!{0})(?!{0}))", word)
                 : fmt::format("(?:(?<={0})(?!{0})|(?<!{0})(?={0}))", word);
}

// Back references and what stands for no character; means nothing inside a class.
std::optional<Escape> outside_class(std::string_view rest) {
  const char letter = rest[1];
  const auto verbatim = [&](std::size_t size) {
    return Escape{.kind = Escape::Kind::kVerbatim, .text = std::string(rest.substr(0, size)), .size = size};
  };
  if (letter == 'b' || letter == 'B') {
    return Escape{.kind = Escape::Kind::kVerbatim, .text = boundary(letter == 'B'), .size = 2};
  }
  if (std::string_view("AZzGKRX").find(letter) != std::string_view::npos) return verbatim(2);
  if (letter >= '1' && letter <= '9') {
    std::size_t size = 2;
    while (size < rest.size() && std::isdigit(static_cast<unsigned char>(rest[size])) != 0) ++size;
    return verbatim(size);
  }
  if (letter == 'k' || letter == 'g') {
    const std::size_t close = rest.size() > 2 && rest[2] == '<' ? rest.find('>') : std::string_view::npos;
    MT_CHECK(close != std::string_view::npos, "expected \\{}<name>", letter);
    return verbatim(close + 1);
  }
  return std::nullopt;
}

Escape escape_at(std::string_view rest, bool in_class) {
  MT_CHECK(rest.size() > 1, "the pattern ends with a backslash");
  const char letter = rest[1];
  if (!in_class) {
    if (std::optional<Escape> escape = outside_class(rest)) return *std::move(escape);
  }
  switch (letter) {
    case 'd':
    case 'D': return {.kind = Escape::Kind::kSet, .text = R"(\p{Nd})", .negated = letter == 'D', .size = 2};
    case 's':
    case 'S': return {.kind = Escape::Kind::kSet, .text = R"(\s)", .negated = letter == 'S', .size = 2};
    case 'h':
    case 'H': return {.kind = Escape::Kind::kSet, .text = posix_members("xdigit"), .negated = letter == 'H', .size = 2};
    case 'w':
    case 'W': return {.kind = Escape::Kind::kSet, .text = posix_members("word"), .negated = letter == 'W', .size = 2};
    case 'p':
    case 'P': return property(rest);
    case 'u':
    case 'x': return hex_character(rest);
    case 'b': return {.character = 0x08, .size = 2};  // in a class
    default: break;
  }
  if (const auto control = control_character(letter)) return {.character = *control, .size = 2};
  if (letter >= '0' && letter <= '7') {
    std::size_t num_digits = 0;
    const char32_t character = number_at(rest.substr(1), 3, 8, num_digits);
    return {.character = character, .size = 1 + num_digits};
  }
  MT_CHECK(std::isalnum(static_cast<unsigned char>(letter)) == 0, "the escape \\{} is not supported", letter);
  return {.character = code_point_at(rest, 1), .size = 1 + utf8_length(letter)};
}

// Sets that are one escape themselves have a negation that is one escape too: \P{L} for \p{L}.
std::optional<std::string> negated_member(std::string_view members) {
  const bool is_single =
      members == R"(\s)" || (members.starts_with(R"(\p{)") && members.find('}') == members.size() - 1);
  if (!is_single) return std::nullopt;
  std::string negated(members);
  negated[1] = static_cast<char>(std::toupper(static_cast<unsigned char>(negated[1])));
  return negated;
}

class ClassTranslator {
 public:
  ClassTranslator(std::string_view pattern, std::size_t position) : pattern_(pattern), position_(position) {}

  std::string run(int depth = 0) {
    MT_CHECK(depth < kMaxClassDepth, "classes are nested more than {} deep", kMaxClassDepth);
    ++position_;  // the bracket
    const bool negated = take("^");
    std::vector<std::string> operands;  // of &&, which binds weakest
    Set set;
    for (bool first = true; first || !take("]"); first = false) {
      MT_CHECK(position_ < pattern_.size(), "a class is not closed");
      if (take("&&")) {
        operands.push_back(expression(set, /*negated=*/false));
        set = {};
      } else if (rest().starts_with("[:") && rest().find(":]") != std::string_view::npos) {
        add_posix(set);
      } else if (rest().starts_with('[')) {
        set.others.push_back(run(depth + 1));
      } else {
        add_item(set);
      }
    }
    if (operands.empty()) return expression(set, negated);
    std::string all;
    for (const std::string& operand : operands) all += "(?=" + operand + ")";
    all += expression(set, /*negated=*/false);
    return expression({.members = {}, .others = {"(?:" + all + ")"}}, negated);
  }

  std::size_t position() const { return position_; }

 private:
  // The union of members of a PCRE2 class and of expressions that match one character each.
  struct Set {
    std::string members;
    std::vector<std::string> others;
  };

  static std::string expression(const Set& set, bool negated) {
    if (set.others.empty()) {
      if (set.members.empty()) return negated ? "(?s:.)" : "(?!)";
      return (negated ? "[^" : "[") + set.members + "]";
    }
    std::string choice = "(?:";
    if (!set.members.empty()) choice += "[" + set.members + "]|";
    for (const std::string& other : set.others) choice += other + "|";
    choice.back() = ')';
    return negated ? "(?:(?!" + choice + ")(?s:.))" : choice;
  }

  std::string_view rest() const { return pattern_.substr(position_); }

  bool take(std::string_view text) {
    if (!rest().starts_with(text)) return false;
    position_ += text.size();
    return true;
  }

  static void add_set(Set& set, const std::string& members, bool negated) {
    if (!negated) {
      set.members += members;
    } else if (const auto member = negated_member(members)) {
      set.members += *member;
    } else {
      set.others.push_back("[^" + members + "]");
    }
  }

  void add_posix(Set& set) {
    const std::size_t close = rest().find(":]");
    std::string_view name = rest().substr(2, close - 2);
    const bool negated = name.starts_with('^');
    if (negated) name.remove_prefix(1);
    add_set(set, posix_members(name), negated);
    position_ += close + 2;
  }

  // One character as it stands or escaped; nothing when it was a set, which is added.
  std::optional<char32_t> character(Set& set) {
    MT_CHECK(position_ < pattern_.size(), "a class is not closed");
    if (pattern_[position_] != '\\') {
      const char32_t character = code_point_at(pattern_, position_);
      position_ += utf8_length(pattern_[position_]);
      return character;
    }
    const Escape escape = escape_at(rest(), /*in_class=*/true);
    position_ += escape.size;
    if (escape.kind == Escape::Kind::kCharacter) return escape.character;
    add_set(set, escape.text, escape.negated);
    return std::nullopt;
  }

  void add_item(Set& set) {
    const std::optional<char32_t> first = character(set);
    if (!first) return;
    set.members += hex_escape(*first);
    const bool is_range = rest().size() > 1 && rest()[0] == '-' && rest()[1] != ']';
    if (!is_range) return;
    ++position_;
    const std::optional<char32_t> last = character(set);
    MT_CHECK(last && *first <= *last, "a range of characters in a class has no end, or one before its beginning");
    set.members += '-';
    set.members += hex_escape(*last);
  }

  std::string_view pattern_;
  std::size_t position_;
};

}  // namespace

Translated translate_escape(std::string_view pattern, std::size_t position) {
  const Escape escape = escape_at(pattern.substr(position), /*in_class=*/false);
  switch (escape.kind) {
    case Escape::Kind::kCharacter: return {hex_escape(escape.character), escape.size};
    case Escape::Kind::kVerbatim: return {escape.text, escape.size};
    case Escape::Kind::kSet: break;
  }
  if (const auto negated = negated_member(escape.text)) return {escape.negated ? *negated : escape.text, escape.size};
  const std::string members = escape.text == posix_members("word") ? free_word_members() : escape.text;
  return {(escape.negated ? "[^" : "[") + members + "]", escape.size};
}

Translated translate_class(std::string_view pattern, std::size_t position) {
  ClassTranslator translator(pattern, position);
  std::string text = translator.run();
  return {std::move(text), translator.position() - position};
}

}  // namespace minitorch::models
