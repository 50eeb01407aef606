// Damaged files: a tokenizer either loads or is refused with an error, and one that loads works without crashing.
#include "minitorch/base/philox.h"
#include "minitorch/base/utf8.h"
#include "models/tokenizer/pattern.h"
#include "tests/tokenizer/helpers.h"

namespace minitorch::test {
namespace {

// Loads and uses it; true when it loaded.
bool try_tokenizer(const std::string& text) {
  try {
    const auto tokenizer = models::Tokenizer::from_json(text, R"({"bos_token": "<s>", "add_bos_token": true})");
    const auto ids = tokenizer.encode("Once upon a time <s> é 你好\n", /*add_special_tokens=*/true);
    CHECK(is_valid_utf8(tokenizer.decode(ids)));
    CHECK(is_valid_utf8(tokenizer.decode(std::vector<std::int32_t>{0, 1, 2, 3, 300, 511, 512, -1})));
    return true;
  } catch (const Error& error) {
    CHECK(std::string_view(error.what()).find('\n') == std::string_view::npos);
    return false;
  }
}

std::string mutated(std::string text, PhiloxStream& random) {
  constexpr std::string_view kBytes = "\"{}[],:0123456789-.eEtrufalsn\\ \n<>\xFF\xE2\x01";
  const std::uint32_t count = 1 + random.below(3);
  for (std::uint32_t i = 0; i < count && !text.empty(); ++i) {
    const std::size_t place = random.below(static_cast<std::uint32_t>(text.size()));
    switch (random.below(5)) {
      case 0: text[place] = kBytes[random.below(static_cast<std::uint32_t>(kBytes.size()))]; break;
      case 1: text.erase(place, 1 + random.below(20)); break;
      case 2: text.insert(place, 1, kBytes[random.below(static_cast<std::uint32_t>(kBytes.size()))]); break;
      case 3:
        text.insert(place, text.substr(random.below(static_cast<std::uint32_t>(text.size())), 1 + random.below(40)));
        break;
      default: text[place] = static_cast<char>(random.below(256)); break;
    }
  }
  return text;
}

// All values of a document, by their place.
void each_pointer(const nlohmann::json& value, const nlohmann::json::json_pointer& pointer,
                  std::vector<nlohmann::json::json_pointer>& pointers) {
  pointers.push_back(pointer);
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) each_pointer(member, pointer / key, pointers);
  }
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) each_pointer(value[i], pointer / i, pointers);
  }
}

}  // namespace

TEST_CASE("2000 random mutations of a tokenizer.json load or are refused") {
  MT_REQUIRE_DATA("models/stories260K/tokenizer.json");
  const std::string original = tokenizer_json("stories260K");
  REQUIRE(try_tokenizer(original));
  PhiloxStream random(2024);
  int loaded = 0;
  for (int round = 0; round < 2000; ++round) {
    CAPTURE(round);
    loaded += try_tokenizer(mutated(original, random)) ? 1 : 0;
  }
  // Both must occur, or the mutations are too wild or too tame to show anything.
  CHECK(loaded > 50);
  CHECK(loaded < 1900);
}

TEST_CASE("3000 random regular expressions match or are refused, and their matches are in order") {
  const std::vector<std::string> parts = {
      "a",      "b",    "\\w",  "\\p{L}", "\\P{Han}", "[a-c]",     "[^\\s", "]",   "(",    ")", "(?:", "(?=",
      "(?<!",   "(?i:", "(?i)", "|",      "*",        "+",         "?",     "{2}", "{,3}", "{", "}",   "[[:alpha:]]",
      "[a[b]]", "&&",   "-",    "\\b",    "\\u00e9",  "\\x{4f60}", "é",     "你",  "^",    "$", "\\1", "(?<n>",
      "\\k<n>", "\\K",  "\\",   "\\R",    "\\X",      ".",         "++",    "(?>", ":",    "#", " "};
  const std::string text = "ab aé你B-c\n";
  PhiloxStream random(99);
  int compiled = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string regex;
    for (std::uint32_t i = 0, count = 1 + random.below(10); i < count; ++i)
      regex += parts[random.below(static_cast<std::uint32_t>(parts.size()))];
    CAPTURE(regex);
    try {
      const models::Pattern pattern = models::Pattern::regex(regex, "here");
      ++compiled;
      models::PatternScratch scratch;
      std::vector<models::TextRange> matches;
      pattern.find_all(text, scratch, matches);
      std::size_t end = 0;
      for (const models::TextRange& match : matches) {
        CHECK(match.begin >= end);
        CHECK(match.end >= match.begin);
        CHECK(match.end <= text.size());
        CHECK(is_valid_utf8(text.substr(match.begin, match.end - match.begin)));
        end = match.end;
      }
    } catch (const Error&) {
    }
  }
  CHECK(compiled > 300);
}

TEST_CASE("a value of any other type in any field of a tokenizer.json loads or is refused") {
  const nlohmann::json document = nlohmann::json::parse(R"({
    "version": "1.0", "added_tokens": [{"id": 4, "content": "<s>", "special": true, "single_word": true, "lstrip": true, "normalized": true}],
    "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Prepend", "prepend": "_"},
      {"type": "Replace", "pattern": {"Regex": " +"}, "content": "_"}, {"type": "Strip", "strip_left": true, "strip_right": false}]},
    "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
      {"type": "Split", "pattern": {"Regex": "\\p{L}+|\\s"}, "behavior": "MergedWithNext", "invert": true}, {"type": "Digits", "individual_digits": true},
      {"type": "Metaspace", "replacement": "_", "prepend_scheme": "first", "split": true},
      {"type": "ByteLevel", "add_prefix_space": true, "use_regex": true}, {"type": "FixedLength", "length": 4}]},
    "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
      "special_tokens": {"<s>": {"id": "<s>", "ids": [4], "tokens": ["<s>"]}}},
    "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "_"}, "content": " "}, {"type": "ByteFallback"},
      {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
    "model": {"type": "BPE", "unk_token": "a", "fuse_unk": true, "byte_fallback": true, "ignore_merges": true, "dropout": null,
      "continuing_subword_prefix": "", "end_of_word_suffix": null, "vocab": {"a": 0, "b": 1, "ab": 2, "<0x41>": 3}, "merges": ["a b", ["a", "b"]]}})");
  REQUIRE(try_tokenizer(document.dump()));
  std::vector<nlohmann::json::json_pointer> pointers;
  each_pointer(document, nlohmann::json::json_pointer(), pointers);
  CHECK(pointers.size() > 90);
  const std::vector<nlohmann::json> values = {nullptr,
                                              true,
                                              -1,
                                              3,
                                              1.5,
                                              1e300,
                                              UINT64_MAX,
                                              "",
                                              "x",
                                              "\u0000",
                                              nlohmann::json::array(),
                                              nlohmann::json::object(),
                                              {1, 2},
                                              {{"type", "Sequence"}}};
  for (const auto& pointer : pointers) {
    CAPTURE(pointer.to_string());
    for (const nlohmann::json& value : values) {
      CAPTURE(value.dump());
      nlohmann::json changed = document;
      changed[pointer] = value;
      (void)try_tokenizer(changed.dump());
    }
    if (pointer.empty() || !document[pointer.parent_pointer()].is_object()) continue;
    nlohmann::json without = document;
    without[pointer.parent_pointer()].erase(pointer.back());
    (void)try_tokenizer(without.dump());
  }
}

}  // namespace minitorch::test
