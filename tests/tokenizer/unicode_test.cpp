// Character classes and normalization of all code points against the reference
// (tests/data/tokenizer/unicode_sets.jsonl).
#include <set>

#include "models/json_fields.h"
#include "models/tokenizer/read_steps.h"
#include "models/tokenizer/unicode_normalize.h"
#include "models/tokenizer/unicode_repair.h"
#include "models/tokenizer/utf8_iterate.h"
#include "tests/support/emulation.h"
#include "tests/tokenizer/helpers.h"

namespace minitorch::test {
namespace {

using nlohmann::json;

// Calls visit(code point) for all but U+0000 and surrogates.
template <typename Visit>
void each_code_point(const Visit& visit) {
  for (char32_t c = 1; c < 0x110000; ++c) {
    if (c < 0xD800 || c >= 0xE000) visit(c);
  }
}

// All code points, each put in place of the X of `around`, with `separator` in between.
std::string all_code_points(const std::string& around, const std::string& separator) {
  const std::size_t place = around.find('X');
  std::string text;
  each_code_point([&](char32_t c) {
    if (!text.empty()) text += separator;
    text.append(around, 0, place);
    models::append_utf8(text, c);
    text.append(around, place + 1);
  });
  return text;
}

std::size_t num_characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !models::is_continuation_byte(c); }));
}

models::PreTokenizedText split(const json& part, std::string text) {
  const json document = {{"pre_tokenizer", part}};
  models::PatternScratch scratch;
  models::PreTokenizedText pieces(std::move(text), /*at_start=*/true);
  models::read_pre_tokenizer(models::JsonFields(document, "test"))->apply(pieces, scratch);
  return pieces;
}

void check_set(const json& line) {
  const json part = {
      {"type", "Split"}, {"pattern", {{"Regex", line.at("regex")}}}, {"behavior", "Removed"}, {"invert", true}};
  const models::PreTokenizedText matched = split(part, all_code_points("X", ""));
  Fnv hash;
  std::size_t count = 0;
  for (const models::TextRange& range : matched.pieces()) {
    const std::string_view piece = matched.piece(range);
    for (std::size_t i = 0; i < piece.size(); i += models::utf8_length(piece[i]), ++count)
      hash.add(models::code_point_at(piece, i));
  }
  CHECK(count == line.at("count").get<std::size_t>());
  CHECK(hash.hex() == line.at("hash").get<std::string>());
}

void check_pieces(const json& line) {
  const models::PreTokenizedText pieces = split(line.at("pre_tokenizer"), all_code_points("aX", ""));
  Fnv hash;
  for (const models::TextRange& range : pieces.pieces())
    hash.add(static_cast<std::uint32_t>(num_characters(pieces.piece(range))));
  CHECK(pieces.pieces().size() == line.at("count").get<std::size_t>());
  CHECK(hash.hex() == line.at("hash").get<std::string>());
}

void check_normalized(const json& line) {
  const json document = {{"normalizer", {{"type", line.at("normalizer")}}}};
  models::PatternScratch scratch;
  models::NormalizedText text{.text = all_code_points(line.at("around"), "\n")};
  models::read_normalizer(models::JsonFields(document, "test"))->apply(text, scratch);
  Fnv hash;
  for (std::size_t i = 0; i < text.text.size(); i += models::utf8_length(text.text[i]))
    hash.add(models::code_point_at(text.text, i));
  CHECK(num_characters(text.text) == line.at("count").get<std::size_t>());
  CHECK(hash.hex() == line.at("hash").get<std::string>());
}

// Every line of this kind; in emulation every fourth.
template <typename Check>
void each_line_with(const std::string& member, const Check& check) {
  std::size_t count = 0;
  for (const json& line : read_jsonl(golden_file("tokenizer/unicode_sets.jsonl"))) {
    if (!line.contains(member) || count++ % (emulated() ? 4 : 1) != 0) continue;
    const std::string shown = line.dump();
    CAPTURE(shown);
    check(line);
  }
  CHECK(count >= 4);
}

}  // namespace

TEST_CASE("every set of characters has the reference's members among all code points") {
  each_line_with("regex", check_set);
}

TEST_CASE("digits, punctuation, words and white space are the reference's among all code points") {
  each_line_with("pre_tokenizer", check_pieces);
}

TEST_CASE("all code points are normalized as the reference does, alone and beside marks of every kind") {
  each_line_with("normalizer", check_normalized);
}

TEST_CASE("stand-ins keep the length of the text and leave older characters alone") {
  CHECK(!models::with_stand_ins("plain, naïve, 你好, 😀, \u0301"));
  const std::string text = "a\u180Eb\U0001E030c\U000323AF你";
  const auto stand_ins = models::with_stand_ins(text);
  REQUIRE(stand_ins);
  CHECK(stand_ins->size() == text.size());
  CHECK(is_valid_utf8(*stand_ins));
  CHECK(*stand_ins != text);
  CHECK(stand_ins->ends_with("你"));
  // A stand-in needs none itself.
  CHECK(!models::with_stand_ins(*stand_ins));
}

TEST_CASE("U+11A7 is no trailing consonant: it does not join a Hangul syllable") {
  using models::NormalForm;
  CHECK(models::normalize_unicode("가\u11A7", NormalForm::kC) == "가\u11A7");
  CHECK(models::normalize_unicode("\u1100\u1161\u11A7", NormalForm::kC) == "가\u11A7");
  CHECK(models::normalize_unicode("\u1100\u1161\u11A8", NormalForm::kC) == "각");
  CHECK(models::normalize_unicode("각", NormalForm::kD) == "\u1100\u1161\u11A8");
}

TEST_CASE("a mark is blocked by one of the same class, and sorted before one of a higher class") {
  using models::NormalForm;
  CHECK(models::normalize_unicode("a\u0301\u0301", NormalForm::kC) == "á\u0301");
  CHECK(models::normalize_unicode("a\u0301\u0316", NormalForm::kC) == "á\u0316");
  CHECK(models::normalize_unicode("a\u0301\u0316", NormalForm::kD) == "a\u0316\u0301");
  CHECK(models::normalize_unicode("", NormalForm::kC) == "");
  CHECK(models::normalize_unicode("\u0301", NormalForm::kC) == "\u0301");
  // Text that is already in the form comes back as it is.
  for (const NormalForm form : {NormalForm::kC, NormalForm::kD, NormalForm::kKC, NormalForm::kKD}) {
    const std::string once = models::normalize_unicode("Ångström ﬁ ½ \u0958 각 ẛ̣", form);
    CHECK(models::normalize_unicode(once, form) == once);
  }
}

}  // namespace minitorch::test
