// Streaming: the pieces add up to decode(), and each is valid UTF-8 by itself.
#include <span>

#include "minitorch/base/philox.h"
#include "minitorch/base/utf8.h"
#include "tests/tokenizer/helpers.h"

namespace minitorch::test {
namespace {

using Ids = std::vector<std::int32_t>;
using nlohmann::json;

void check_stream(const models::Tokenizer& tokenizer, const Ids& ids, bool skip_special_tokens) {
  models::StreamDecoder stream = tokenizer.stream_decoder(skip_special_tokens);
  std::string text;
  for (const std::int32_t id : ids) {
    const std::string piece = stream.push(id);
    CHECK(is_valid_utf8(piece));
    text += piece;
  }
  const std::string rest = stream.finish();
  CHECK(is_valid_utf8(rest));
  CHECK(text + rest == tokenizer.decode(ids, skip_special_tokens));
}

Ids random_ids(PhiloxStream& random, std::int32_t size) {
  Ids ids(random.below(60));
  for (std::int32_t& id : ids) {
    // Low ids are single bytes in most vocabularies: broken characters.
    const std::int32_t limit = random.below(2) == 0 ? size : std::min(size, 300);
    id = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(limit + 4))) - 2;
  }
  return ids;
}

}  // namespace

TEST_CASE("streamed pieces of random ids are valid text and add up to decode") {
  for (const auto& [name, folder] : tokenizer_folders()) {
    MT_REQUIRE_DATA(folder);
    CAPTURE(name);
    const models::Tokenizer& tokenizer = real_tokenizer(name);
    PhiloxStream random(5);
    for (int round = 0; round < 200; ++round) {
      CAPTURE(round);
      check_stream(tokenizer, random_ids(random, tokenizer.size()), /*skip_special_tokens=*/round % 2 == 0);
    }
  }
}

TEST_CASE("streamed pieces of real text add up to the text") {
  for (const auto& [name, folder] : tokenizer_folders()) {
    MT_REQUIRE_DATA(folder);
    CAPTURE(name);
    const models::Tokenizer& tokenizer = real_tokenizer(name);
    const std::string text = "Naïve 你好 👩‍👩‍👧‍👦 <|im_end|></think> \u0301\n\n𠀀 done";
    check_stream(tokenizer, tokenizer.encode(text, /*add_special_tokens=*/true), /*skip_special_tokens=*/false);
  }
}

TEST_CASE("a character comes out with its last byte, and no byte of it before") {
  MT_REQUIRE_DATA("tokenizers/deepseek_r1_distill_qwen");
  const models::Tokenizer& tokenizer = real_tokenizer("deepseek_r1_distill_qwen");
  const Ids ids = tokenizer.encode("a🫨b", /*add_special_tokens=*/false);
  REQUIRE(ids.size() > 3);  // the face takes several tokens
  models::StreamDecoder stream = tokenizer.stream_decoder();
  std::vector<std::string> pieces;
  for (const std::int32_t id : ids) pieces.push_back(stream.push(id));
  CHECK(pieces.front() == "a");
  for (std::size_t i = 1; i + 2 < pieces.size(); ++i) CHECK(pieces[i] == "");
  CHECK(pieces[pieces.size() - 2] == "🫨");
  CHECK(pieces.back() == "b");
  CHECK(stream.finish() == "");
}

TEST_CASE("a character that is cut off becomes U+FFFD at the end, or as soon as something else follows") {
  MT_REQUIRE_DATA("tokenizers/deepseek_r1_distill_qwen");
  const models::Tokenizer& tokenizer = real_tokenizer("deepseek_r1_distill_qwen");
  const Ids face = tokenizer.encode("🫨", /*add_special_tokens=*/false);
  models::StreamDecoder cut = tokenizer.stream_decoder();
  CHECK(cut.push(face[0]) == "");
  CHECK(cut.finish() == "\uFFFD");
  models::StreamDecoder followed = tokenizer.stream_decoder();
  CHECK(followed.push(face[0]) == "");
  CHECK(followed.push(*tokenizer.id_of("x")) == "\uFFFDx");
}

TEST_CASE("special tokens are left out of a stream on request") {
  MT_REQUIRE_DATA("tokenizers/deepseek_r1_distill_qwen");
  const models::Tokenizer& tokenizer = real_tokenizer("deepseek_r1_distill_qwen");
  const Ids ids = tokenizer.encode("a<｜end▁of▁sentence｜><think>b", /*add_special_tokens=*/false);
  CHECK(tokenizer.decode(ids, /*skip_special_tokens=*/true) == "a<think>b");
  CHECK(tokenizer.decode(ids) == "a<｜end▁of▁sentence｜><think>b");
  CHECK(tokenizer.is_special(*tokenizer.eos_id()));
  CHECK(!tokenizer.is_special(*tokenizer.id_of("<think>")));
}

TEST_CASE("byte tokens come out when their run ends, as text or as one U+FFFD for each") {
  MT_REQUIRE_DATA("models/stories260K");
  const models::Tokenizer& tokenizer = real_tokenizer("stories260K");
  const auto byte = [&](const char* token) { return *tokenizer.id_of(token); };
  const std::int32_t a = *tokenizer.id_of("a");
  models::StreamDecoder stream = tokenizer.stream_decoder();
  CHECK(stream.push(byte("<0xE4>")) == "");
  CHECK(stream.push(byte("<0xBD>")) == "");
  CHECK(stream.push(byte("<0xA0>")) == "");
  CHECK(stream.push(a) == "你a");
  CHECK(stream.push(byte("<0xE4>")) == "");
  CHECK(stream.push(byte("<0x41>")) == "");
  CHECK(stream.finish() == "\uFFFD\uFFFD");
}

// Streams the ids behind the first `split` and compares with the text of all of them.
void check_continuation(const models::Tokenizer& tokenizer, const Ids& ids, std::size_t split) {
  const std::span<const std::int32_t> before = std::span(ids).first(split);
  models::StreamDecoder stream = tokenizer.stream_decoder(/*skip_special_tokens=*/true, before);
  std::string text = tokenizer.decode(before, /*skip_special_tokens=*/true);
  for (const std::int32_t id : std::span(ids).subspan(split)) text += stream.push(id);
  CHECK(text + stream.finish() == tokenizer.decode(ids, /*skip_special_tokens=*/true));
}

TEST_CASE("a stream behind other tokens goes on with their text, blanks between included") {
  for (const auto& [name, folder] : tokenizer_folders()) {
    MT_REQUIRE_DATA(folder);
    CAPTURE(name);
    const models::Tokenizer& tokenizer = real_tokenizer(name);
    const Ids ids = tokenizer.encode("Once upon a time,  there was  one.", /*add_special_tokens=*/true);
    for (std::size_t split = 0; split <= ids.size(); ++split) check_continuation(tokenizer, ids, split);
  }
}

TEST_CASE("every kind of decoder that treats the beginning of a text in its own way goes on behind other tokens") {
  const json vocab = {{"\u2581one", 0}, {"\u2581two", 1}, {"<0x41>", 2}, {"<0x42>", 3}, {"a", 4}};
  const json model = {{"type", "BPE"}, {"vocab", vocab}, {"merges", json::array()}};
  const json replace = {{"type", "Replace"}, {"pattern", {{"String", "\u2581"}}}, {"content", " "}};
  const json strip = {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}};
  const json strip_a = {{"type", "Strip"}, {"content", "a"}, {"start", 1}, {"stop", 0}};
  const json fuse = {{"type", "Fuse"}};
  const json bytes = {{"type", "ByteFallback"}};
  const auto sequence = [](const json& steps) { return json{{"type", "Sequence"}, {"decoders", steps}}; };
  const std::vector<json> decoders = {
      nullptr,
      {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "always"}, {"split", true}},
      sequence({replace, bytes, fuse, strip}),
      sequence({replace, bytes, strip}),
      sequence({bytes, strip_a})};
  for (const json& decoder : decoders) {
    const std::string text = decoder.dump();
    CAPTURE(text);
    const auto tokenizer = models::Tokenizer::from_json(around({{"decoder", decoder}, {"model", model}}).dump());
    const Ids ids = {0, 2, 1, 0, 4, 3, 1};
    for (std::size_t split = 0; split <= ids.size(); ++split) check_continuation(tokenizer, ids, split);
  }
}

TEST_CASE("ids without a token give nothing") {
  MT_REQUIRE_DATA("models/stories260K");
  const models::Tokenizer& tokenizer = real_tokenizer("stories260K");
  const Ids none = {-1, INT32_MIN, INT32_MAX, tokenizer.size(), 1 << 24};
  CHECK(tokenizer.decode(none) == "");
  CHECK(tokenizer.decode({}) == "");
  models::StreamDecoder stream = tokenizer.stream_decoder();
  for (const std::int32_t id : none) CHECK(stream.push(id) == "");
  CHECK(stream.finish() == "");
}

}  // namespace minitorch::test
