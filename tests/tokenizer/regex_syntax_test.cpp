// Rewriting regular expressions: what is refused. What is accepted is compared with the reference in
// components_test.cpp.
#include "models/tokenizer/regex_syntax.h"
#include "models/tokenizer/pattern.h"
#include "tests/tokenizer/helpers.h"

namespace minitorch::test {
namespace {

std::string refused(const std::string& regex) {
  return message_of<IoError>([&] { (void)models::Pattern::regex(regex, "here"); });
}

std::vector<std::string> found(const models::Pattern& pattern, const std::string& text) {
  models::PatternScratch scratch;
  std::vector<models::TextRange> matches;
  pattern.find_all(text, scratch, matches);
  std::vector<std::string> result;
  for (const models::TextRange& match : matches) result.push_back(text.substr(match.begin, match.end - match.begin));
  return result;
}

}  // namespace

TEST_CASE("patterns that have no equivalent are refused, naming the place, the pattern and the reason") {
  CHECK(refused("(?x: a b )") == "here: the regular expression \"(?x: a b )\": the group (?x is not supported");
  CHECK(refused(R"(\xE4\xBD\xA0)").find("raw bytes") != std::string::npos);
  CHECK(refused("(?~abc)").find("is not supported") != std::string::npos);
  CHECK(refused("(*FAIL)").find("callouts are not supported") != std::string::npos);
  CHECK(refused(R"(\y)").find(R"(the escape \y is not supported)") != std::string::npos);
  CHECK(refused(R"(\p{Klingon})").find(R"(unknown property \p{Klingon})") != std::string::npos);
  CHECK(refused("[[:letters:]]").find("unknown character set [:letters:]") != std::string::npos);
}

TEST_CASE("malformed patterns are refused") {
  for (const std::string regex :
       {"(",   ")",       "(?",    "(?i",      "(?<n",   "(?#",        "[",           "[a",    "[a-",
        "[]",  "[a-\\d]", "[z-a]", "[[a]",     "[a&&",   "[[:alpha:]", "*",           "a|*",   "+a",
        "\\",  "[\\",     "\\p",   "\\p{",     "\\p{}",  "\\x{",       "\\x{110000}", "\\u12", "\\xg",
        "\\k", "\\k<n",   "\\2",   "(?<=a*)b", "a{3,1}", "\\x{D800}"}) {
    CAPTURE(regex);
    CHECK(refused(regex) != "");
  }
  CHECK(refused(std::string(5000, '(')) != "");
  CHECK(refused(std::string(5000, '[')) != "");
}

TEST_CASE("a literal pattern takes every character as it stands") {
  CHECK(found(models::Pattern::literal("a.b"), "a.b axb a.ba.b") == std::vector<std::string>{"a.b", "a.b", "a.b"});
  CHECK(found(models::Pattern::literal("aa"), "aaaaa") == std::vector<std::string>{"aa", "aa"});
  CHECK(found(models::Pattern::literal(""), "abc").empty());
}

TEST_CASE("a pattern that needs too many steps is an error, not a hang") {
  const models::Pattern pattern = models::Pattern::regex("(?:a+)+$", "here");
  CHECK(message_of([&] {
          (void)found(pattern, std::string(100, 'a') + "b");
        }).find("is too complex for a text of 101 bytes") != std::string::npos);
}

TEST_CASE("long matches through groups do not run out of stack") {
  const std::string text(1'000'000, 'a');
  CHECK(found(models::Pattern::regex("(?:a|b)+", "here"), text).size() == 1);
  CHECK(found(models::Pattern::regex("(?:(a)|(b))*c|a", "here"), std::string(1000, 'a')).size() == 1000);
}

}  // namespace minitorch::test
