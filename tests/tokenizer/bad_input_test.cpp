// Files that cannot be used are refused with one line that names the file and the field; bad text is refused too.
#include "tests/tokenizer/helpers.h"

namespace minitorch::test {
namespace {

using nlohmann::json;

std::string refused(const std::string& text, const std::string& config = "") {
  return message_of<IoError>([&] { (void)models::Tokenizer::from_json(text, config, "t.json"); });
}
std::string refused_json(const json& document, const std::string& config = "") {
  return refused(document.dump(), config);
}

// The small document with the member at `pointer` replaced.
json with(const char* pointer, const json& value) {
  json document = around({});
  document[json::json_pointer(pointer)] = value;
  return document;
}

json added_token(const char* content, std::int64_t id) { return {{"content", content}, {"id", id}}; }

bool starts(const std::string& text, const std::string& beginning) {
  INFO(text);
  return text.starts_with(beginning);
}

}  // namespace

TEST_CASE("the small document that the other cases change is accepted") { CHECK(refused_json(around({})) == ""); }

TEST_CASE("text that is no JSON object is refused") {
  CHECK(starts(refused(""), "t.json: malformed JSON: "));
  CHECK(starts(refused("{\"model\": "), "t.json: malformed JSON: "));
  CHECK(starts(refused("{\"model\": \"\xFF\"}"), "t.json: malformed JSON: "));
  CHECK(starts(refused("[]"), "t.json: expected a JSON object"));
  CHECK(starts(refused(std::string(100'000, '[')), "t.json: expected JSON nested at most"));
}

TEST_CASE("a model without merges, without a vocabulary or of another type is refused") {
  json document = around({});
  document["model"].erase("merges");
  CHECK(starts(refused_json(document), "t.json: model: merges: expected an array"));
  document = around({});
  document["model"].erase("vocab");
  CHECK(starts(refused_json(document), "t.json: model: vocab: expected an object"));
  CHECK(starts(refused_json(json::object()), "t.json: model: expected an object"));
  CHECK(starts(refused_json(with("/model/type", "Unigram")),
               "t.json: model: the type \"Unigram\" is not supported (known: BPE)"));
  CHECK(starts(refused_json(with("/model/dropout", 0.1)), "t.json: model: dropout: expected null or 0"));
}

TEST_CASE("vocabularies with ids of the wrong type, out of range or used twice are refused") {
  CHECK(
      starts(refused_json(with("/model/vocab/b", "1")), "t.json: model.vocab: token \"b\": expected an id from 0 to"));
  for (const json& id :
       {json(-1), json(1.5), json(nullptr), json(std::uint64_t{1} << 40), json(json::array()), json(json::object())}) {
    CAPTURE(id.dump());
    CHECK(
        starts(refused_json(with("/model/vocab/b", id)), "t.json: model.vocab: token \"b\": expected an id from 0 to"));
  }
  CHECK(starts(refused_json(with("/model/vocab/b", 0)),
               "t.json: model.vocab: the tokens \"a\" and \"b\" have the same id 0"));
  CHECK(starts(refused(std::string(R"({"model": {"vocab": {"a": 0, "a": 1}, "merges": []}})")),
               "t.json: model.vocab: the token \"a\" stands there twice"));
  CHECK(starts(refused_json(with("/model/vocab", json::array())), "t.json: model: vocab: expected an object"));
}

TEST_CASE("merges of unknown tokens or of the wrong form are refused") {
  CHECK(starts(refused_json(with("/model/merges", {"a b"})),
               "t.json: model: merges: entry 0: \"b\" is not in the vocab"));
  CHECK(starts(refused_json(with("/model/merges", {"a a"})),
               "t.json: model: merges: entry 0: \"aa\" is not in the vocab"));
  for (const json& merge : {json("a"), json("a a a"), json({"a"}), json({"a", "a", "a"}), json(3), json(nullptr),
                            json(json::object()), json({json::array(), "a"}), json({1, 2})}) {
    CAPTURE(merge.dump());
    CHECK(starts(refused_json(with("/model/merges", json::array({merge}))),
                 "t.json: model.merges: entry 0: expected \"left right\""));
  }
  CHECK(starts(refused_json(with("/model/merges", "a a")), "t.json: model: merges: expected an array"));
}

TEST_CASE("added tokens that contradict the vocabulary or each other are refused") {
  CHECK(starts(refused_json(with("/added_tokens", json::array({added_token("a", 3)}))),
               "t.json: added_tokens[0]: \"a\": expected the id 0 as in the vocab, got 3"));
  CHECK(starts(refused_json(with("/added_tokens", json::array({added_token("x", 0)}))),
               "t.json: added_tokens[0]: \"x\": expected an id of its own, got 0, that of \"a\""));
  CHECK(starts(refused_json(with("/added_tokens", json::array({added_token("x", 1), added_token("y", 1)}))),
               "t.json: added_tokens[1]: \"y\": expected an id of its own, got 1"));
  CHECK(starts(refused_json(with("/added_tokens", json::array({added_token("x", -1)}))),
               "t.json: added_tokens[0]: id: expected an integer from 0"));
  CHECK(starts(refused_json(with("/added_tokens", json::array({added_token("x", std::int64_t{1} << 33)}))),
               "t.json: added_tokens[0]: id: expected an integer from 0"));
  CHECK(
      starts(refused_json(with("/added_tokens", json::array({3}))), "t.json: added_tokens[0]: expected a JSON object"));
  CHECK(starts(refused_json(with("/added_tokens", json::object())), "t.json: added_tokens: expected an array"));
}

TEST_CASE("unknown types are named, with the known ones") {
  for (const char* part : {"normalizer", "pre_tokenizer", "post_processor", "decoder"}) {
    CAPTURE(part);
    CHECK(starts(refused_json(around({{part, {{"type", "Mystery"}}}})),
                 fmt::format("t.json: {}: the type \"Mystery\" is not supported (known: Sequence, ", part)));
    CHECK(starts(refused_json(around({{part, json::object()}})),
                 fmt::format("t.json: {}: type: expected a string", part)));
    CHECK(starts(refused_json(around({{part, 3}})), fmt::format("t.json: {}: expected an object", part)));
  }
  CHECK(
      starts(refused_json(around({{"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", {{{"type", "NFC"}}}}}}})),
             "t.json: pre_tokenizer: pretokenizers[0]: the type \"NFC\" is not supported"));
}

TEST_CASE("steps with missing or wrong fields are refused") {
  const auto part = [](const char* name, const char* text) { return around({{name, json::parse(text)}}); };
  CHECK(starts(refused_json(part("normalizer", R"({"type": "Replace", "content": "x"})")),
               "t.json: normalizer: pattern: expected an object"));
  CHECK(starts(refused_json(part("normalizer", R"({"type": "Replace", "pattern": {"String": ""}, "content": "x"})")),
               "t.json: normalizer: pattern: String: expected a text that is not empty"));
  CHECK(starts(refused_json(part("normalizer", R"({"type": "Replace", "pattern": {}, "content": "x"})")),
               "t.json: normalizer: pattern: expected"));
  CHECK(starts(refused_json(part("normalizer", R"({"type": "Prepend"})")),
               "t.json: normalizer: prepend: expected a string"));
  CHECK(starts(refused_json(part("normalizer", R"({"type": "Strip", "strip_left": 1, "strip_right": true})")),
               "t.json: normalizer: strip_left: expected"));
  CHECK(starts(
      refused_json(part("pre_tokenizer", R"({"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated"})")),
      "t.json: pre_tokenizer: pattern: the regular expression \"(\": a group is not closed"));
  CHECK(starts(
      refused_json(part("pre_tokenizer", R"({"type": "Split", "pattern": {"Regex": "a"}, "behavior": "Glued"})")),
      "t.json: pre_tokenizer: behavior: expected Removed, Isolated"));
  CHECK(starts(refused_json(part("pre_tokenizer", R"({"type": "Metaspace", "replacement": "__"})")),
               "t.json: pre_tokenizer: replacement: expected one character"));
  CHECK(starts(
      refused_json(part("pre_tokenizer", R"({"type": "Metaspace", "replacement": "_", "prepend_scheme": "second"})")),
      "t.json: pre_tokenizer: prepend_scheme: expected"));
  CHECK(starts(refused_json(part("pre_tokenizer", R"({"type": "FixedLength", "length": 0})")),
               "t.json: pre_tokenizer: length: expected"));
  CHECK(starts(refused_json(part("decoder", R"({"type": "Strip", "content": " ", "start": -1, "stop": 0})")),
               "t.json: decoder: start: expected"));
  CHECK(starts(refused_json(part("decoder", R"({"type": "Strip", "content": "", "start": 1, "stop": 0})")),
               "t.json: decoder: content: expected one character"));
  CHECK(starts(
      refused_json(
          part("post_processor",
               R"({"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>"}}], "special_tokens": {}})")),
      "t.json: post_processor: special_tokens: expected an entry for \"<s>\""));
  CHECK(starts(refused_json(part(
                   "post_processor",
                   R"({"type": "TemplateProcessing", "single": [{"Sequence": {"id": "B"}}], "special_tokens": {}})")),
               "t.json: post_processor: single[0]: Sequence: id: expected \"A\""));
  CHECK(starts(refused_json(part("post_processor", R"({"type": "BertProcessing", "cls": ["a", 0], "sep": ["b"]})")),
               "t.json: post_processor: sep: expected"));
  CHECK(refused_json(part("post_processor", R"({"type": "BertProcessing", "cls": ["a", 0], "sep": ["b", 9]})"))
            .find("adds the id 9, which no token has") != std::string::npos);
}

TEST_CASE("sequences nested without end are refused") {
  json step = {{"type", "NFC"}};
  for (int i = 0; i < 50; ++i) step = {{"type", "Sequence"}, {"normalizers", {step}}};
  CHECK(refused_json(around({{"normalizer", step}})).find("expected sequences nested at most 16 deep") !=
        std::string::npos);
}

TEST_CASE("tokenizer_config.json with wrong types or an unknown begin token is refused by its own name") {
  CHECK(starts(refused_json(around({}), "{"), "tokenizer_config.json: malformed JSON"));
  CHECK(starts(refused_json(around({}), R"({"add_bos_token": "yes"})"),
               "tokenizer_config.json: add_bos_token: expected true or false"));
  CHECK(starts(refused_json(around({}), R"({"bos_token": 3})"), "tokenizer_config.json: bos_token: expected a string"));
  CHECK(starts(refused_json(around({}), R"({"bos_token": {"text": "a"}})"),
               "tokenizer_config.json: bos_token: content: expected a string"));
  CHECK(starts(refused_json(around({}), R"({"chat_template": 3})"),
               "tokenizer_config.json: chat_template: expected a string"));
  CHECK(starts(refused_json(around({}), R"({"add_bos_token": true, "bos_token": "<s>"})"),
               "tokenizer_config.json: add_bos_token: expected bos_token to be a token, got \"<s>\""));
  CHECK(starts(refused_json(around({}), R"({"add_bos_token": true})"),
               "tokenizer_config.json: add_bos_token: expected bos_token to be a token, got nothing"));
  CHECK(refused_json(around({}), R"({"bos_token": "<s>"})") == "");  // harmless as long as it is not to be added
}

TEST_CASE("a folder without tokenizer.json is refused with the file's name") {
  const TemporaryFolder folder;
  const std::string message = message_of<IoError>([&] { (void)models::Tokenizer::from_directory(folder.path()); });
  CHECK(message == folder.path().string() + " is not a model folder (no tokenizer.json)");
}

TEST_CASE("text that is not valid UTF-8 is refused with the place") {
  const auto tokenizer = models::Tokenizer::from_json(around({}).dump());
  for (const std::string bad : {"\xFF", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE4\xBD"}) {
    CHECK(message_of([&] { (void)tokenizer.encode("aé" + bad, /*add_special_tokens=*/false); }) ==
          "encode: expected valid UTF-8, got an invalid sequence at byte 3");
  }
}

TEST_CASE("a character without a token is an error only where unk_token is to stand for it and is no token") {
  const auto tokenizer = models::Tokenizer::from_json(with("/model/unk_token", "<unk>").dump());
  CHECK(tokenizer.encode("aa", /*add_special_tokens=*/false).size() == 2);
  CHECK(message_of([&] {
          (void)tokenizer.encode("ab", /*add_special_tokens=*/false);
        }).find("unk_token \"<unk>\" is no token") != std::string::npos);
  const auto without = models::Tokenizer::from_json(around({}).dump());
  CHECK(without.encode("abcba", /*add_special_tokens=*/false) == std::vector<std::int32_t>{0, 0});
}

}  // namespace minitorch::test
