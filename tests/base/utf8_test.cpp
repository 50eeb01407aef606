// UTF-8 validation, repair, and text cut inside a character.
#include "minitorch/base/utf8.h"

#include <doctest/doctest.h>

#include <string>

namespace minitorch {
namespace {

const std::string kReplacement = "\xEF\xBF\xBD";

// A code point by the plain formula, surrogates and too large ones included.
std::string encode(std::uint32_t code) {
  const auto byte = [](std::uint32_t value) { return static_cast<char>(value); };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xC0 | code >> 6), byte(0x80 | (code & 63))};
  if (code < 0x10000) return {byte(0xE0 | code >> 12), byte(0x80 | (code >> 6 & 63)), byte(0x80 | (code & 63))};
  return {byte(0xF0 | code >> 18), byte(0x80 | (code >> 12 & 63)), byte(0x80 | (code >> 6 & 63)),
          byte(0x80 | (code & 63))};
}

TEST_CASE("exactly the code points that are no surrogates and at most 10FFFF are valid") {
  int wrong = 0;
  for (std::uint32_t code = 0; code < 0x120000; ++code) {
    const bool expected = code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
    if (is_valid_utf8(encode(code)) != expected) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("overlong forms, lone continuation bytes and forbidden lead bytes are invalid") {
  for (const char* text :
       {"\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xE0\x9F\xBF", "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF", "\x80", "\xBF",
        "\xF5\x80\x80\x80", "\xFE", "\xFF", "\xF8\x88\x80\x80\x80"}) {
    CAPTURE(text);
    CHECK(valid_utf8_prefix(text) == 0);
  }
}

TEST_CASE("the valid prefix ends before the first invalid sequence") {
  CHECK(valid_utf8_prefix("") == 0);
  CHECK(valid_utf8_prefix("abc") == 3);
  CHECK(valid_utf8_prefix("a\xC3\xA9z\xFFq") == 4);
  CHECK(valid_utf8_prefix("a\xE2\x82") == 1);
  CHECK(valid_utf8_prefix(std::string("a\0b", 3)) == 3);
}

TEST_CASE("every maximal invalid subpart becomes one replacement character") {
  // The example of the Unicode standard, table 3-8 and 3-10.
  CHECK(replace_invalid_utf8("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41") == kReplacement + kReplacement + kReplacement +
                                                                            kReplacement + kReplacement + kReplacement +
                                                                            kReplacement + kReplacement + "A");
  CHECK(replace_invalid_utf8("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41") ==
        kReplacement + kReplacement + kReplacement + kReplacement + "A");
  CHECK(replace_invalid_utf8("\xED\xA0\x80") == kReplacement + kReplacement + kReplacement);
  CHECK(replace_invalid_utf8("x\xE2\x82") == "x" + kReplacement);
  CHECK(replace_invalid_utf8("h\xC3\xA9") == "h\xC3\xA9");
}

TEST_CASE("the incomplete suffix holds what more bytes may complete") {
  CHECK(incomplete_utf8_suffix("") == 0);
  CHECK(incomplete_utf8_suffix("abc") == 0);
  CHECK(incomplete_utf8_suffix("a\xC3") == 1);
  CHECK(incomplete_utf8_suffix("a\xC3\xA9") == 0);
  CHECK(incomplete_utf8_suffix("\xE2\x82") == 2);
  CHECK(incomplete_utf8_suffix("\xF0\x9F\x98") == 3);
  CHECK(incomplete_utf8_suffix("\xF0\x9F\x98\x80") == 0);
  CHECK(incomplete_utf8_suffix("\xE0\x80") == 0);      // overlong: no byte can complete it
  CHECK(incomplete_utf8_suffix("\xED\xA0") == 0);      // surrogate
  CHECK(incomplete_utf8_suffix("\x80\x80\x80") == 0);  // continuation bytes only
  CHECK(incomplete_utf8_suffix("\xFF") == 0);
}

TEST_CASE("cutting a text anywhere leaves a valid part and a suffix that the rest completes") {
  const std::string text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    CAPTURE(cut);
    const std::string head = text.substr(0, cut);
    const std::size_t suffix = incomplete_utf8_suffix(head);
    CHECK(is_valid_utf8(head.substr(0, cut - suffix)));
    CHECK(is_valid_utf8(text.substr(cut - suffix)));
  }
}

TEST_CASE("printable text is one valid line of limited length") {
  CHECK(printable("plain") == "plain");
  CHECK(printable("a\nb\tc\x7F") == "a b c ");
  CHECK(printable("\xFFx") == kReplacement + "x");
  CHECK(printable("abcdef", 3) == "abc...");
  CHECK(printable("abc", 3) == "abc");
  CHECK(printable("ab\xE2\x82\xAC", 4) == "ab...");  // not half a character
}

}  // namespace
}  // namespace minitorch
