// Single pre-tokenizers, normalizers and decoders against the reference's answers
// (tests/data/tokenizer/components.jsonl).
#include "models/json_fields.h"
#include "models/tokenizer/read_steps.h"
#include "tests/tokenizer/helpers.h"

namespace minitorch::test {
namespace {

using nlohmann::json;
using Texts = std::vector<std::string>;

// Calls check(part, inputs, results) for every line of `kind`; the inputs stand in an earlier line.
template <typename Check>
void each_component(const std::string& kind, const std::string& inputs_kind, const Check& check) {
  json inputs;
  std::size_t count = 0;
  for (const json& line : read_jsonl(golden_file("tokenizer/components.jsonl"))) {
    if (line.at("kind") == inputs_kind) inputs = line.at(inputs_kind);
    if (line.at("kind") != kind) continue;
    ++count;
    const std::string shown = line.at("json").dump();
    CAPTURE(shown);
    REQUIRE(inputs.size() == line.at("results").size());
    for (std::size_t i = 0; i < inputs.size(); ++i) check(line.at("json"), inputs[i], line.at("results")[i]);
  }
  CHECK(count > 10);
}

Texts pieces_of(const json& part, const std::string& text) {
  const json document = {{"pre_tokenizer", part}};
  const auto pre_tokenizer = models::read_pre_tokenizer(models::JsonFields(document, "test"));
  models::PatternScratch scratch;
  models::PreTokenizedText pieces(text, /*at_start=*/true);
  pre_tokenizer->apply(pieces, scratch);
  Texts result;
  for (const models::TextRange& range : pieces.pieces()) result.emplace_back(pieces.piece(range));
  return result;
}

std::string normalized(const json& part, const std::string& text) {
  const json document = {{"normalizer", part}};
  models::PatternScratch scratch;
  models::NormalizedText result{.text = text};
  models::read_normalizer(models::JsonFields(document, "test"))->apply(result, scratch);
  return result.text;
}

std::string decoded(const json& part, const Texts& tokens) {
  const json document = {{"decoder", part}};
  const auto steps = models::read_decoder(models::JsonFields(document, "test"));
  models::DecodeStream stream(steps);
  std::string text;
  for (const std::string& token : tokens) {
    stream.push(token);
    text += stream.take();
    CHECK(is_valid_utf8(text));
  }
  stream.finish();
  return text + stream.take();
}

}  // namespace

TEST_CASE(
    "every pre-tokenizer splits as the reference does: patterns, behaviours, byte level, metaspace, digits and "
    "others") {
  each_component("pre_tokenizer", "texts", [](const json& part, const json& text, const json& expected) {
    CAPTURE(text.get<std::string>());
    CHECK(pieces_of(part, text) == expected.get<Texts>());
  });
}

TEST_CASE("every normalizer gives the reference's text") {
  each_component("normalizer", "texts", [](const json& part, const json& text, const json& expected) {
    CAPTURE(text.get<std::string>());
    CHECK(normalized(part, text) == expected.get<std::string>());
  });
}

TEST_CASE("every decoder gives the reference's text, token by token") {
  each_component("decoder", "token_lists", [](const json& part, const json& tokens, const json& expected) {
    CAPTURE(tokens.dump());
    CHECK(decoded(part, tokens) == expected.get<std::string>());
  });
}

TEST_CASE("a Strip decoder that meets itself in the middle of a token leaves nothing") {
  const json part = {{"type", "Strip"}, {"content", "a"}, {"start", 2}, {"stop", 2}};
  CHECK(decoded(part, {"aaa", "aaaaa", "a", "", "aabaa", "baaa"}) == "abba");
}

TEST_CASE("text replaced across joined tokens comes out as soon as it is certain") {
  const json document = {
      {"decoder",
       {{"type", "Sequence"},
        {"decoders",
         {{{"type", "Fuse"}}, {{"type", "Replace"}, {"pattern", {{"String", "aab"}}}, {"content", "X"}}}}}}};
  const auto steps = models::read_decoder(models::JsonFields(document, "test"));
  models::DecodeStream stream(steps);
  Texts pieces;
  for (const char* token : {"c", "a", "a", "a", "b", "a", "c", "a"}) {
    stream.push(token);
    pieces.push_back(stream.take());
  }
  stream.finish();
  pieces.push_back(stream.take());
  CHECK(pieces == Texts{"c", "", "", "a", "X", "", "ac", "", "a"});
}

}  // namespace minitorch::test
