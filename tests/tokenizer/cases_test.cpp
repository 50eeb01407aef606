// Cases from public bug reports: B15 (pre-tokenizer of the Qwen family), B17 (spaces lost in decoding), B21 (begin
// token twice).
#include <algorithm>

#include "models/chat_template/chat_template.h"
#include "tests/tokenizer/helpers.h"

namespace minitorch::test {
namespace {

using Ids = std::vector<std::int32_t>;
constexpr const char* kR1 = "deepseek_r1_distill_qwen";
constexpr std::int32_t kBegin = 151646;

Ids encode(const std::string& text, bool add_special_tokens = false) {
  return real_tokenizer(kR1).encode(text, add_special_tokens);
}

std::unique_ptr<models::ChatTemplate> chat() { return models::make_chat_template(real_tokenizer(kR1)); }

Ids chat_ids(const std::vector<models::ChatMessage>& messages, bool add_generation_prompt) {
  return encode(chat()->render(messages, add_generation_prompt));
}

}  // namespace

TEST_CASE("B15: Qwen splits digits one by one and keeps punctuation together") {
  MT_REQUIRE_DATA("tokenizers/deepseek_r1_distill_qwen");
  CHECK(encode("1234567") == Ids{16, 17, 18, 19, 20, 21, 22});
  CHECK(encode("->") == Ids{405});
  // Recorded with tokenizers 0.23.3.
  CHECK(encode("we'Ll I'M") == Ids{896, 91426, 75, 358, 27603});
  CHECK(encode("a  b") == Ids{64, 220, 293});
  CHECK(encode(" \n\n x") == Ids{4710, 856});
  CHECK(encode("foo(bar):\n") == Ids{7975, 54630, 982});
  CHECK(encode("x²") == Ids{87, 29456});
}

TEST_CASE("B17: decoding keeps every space, whatever tokenizer_class and clean_up_tokenization_spaces say") {
  MT_REQUIRE_DATA("tokenizers/deepseek_r1_distill_qwen");
  const auto tokenizer = models::Tokenizer::from_json(
      tokenizer_json(kR1), R"({"tokenizer_class": "LlamaTokenizerFast", "clean_up_tokenization_spaces": true})");
  for (const std::string text : {"Four  spaces\tand tab", "if a != b , stop ?", " leading", "trailing ", "don 't",
                                 "\n\n", "日本語 text", "🦉🦉"}) {
    CAPTURE(text);
    CHECK(tokenizer.decode(tokenizer.encode(text, /*add_special_tokens=*/false)) == text);
  }
}

TEST_CASE("B21: the begin token stands in front exactly once, in chats and in raw text") {
  MT_REQUIRE_DATA("tokenizers/deepseek_r1_distill_qwen");
  CHECK(chat_ids({{.role = "user", .content = "hello"}}, /*add_generation_prompt=*/false) ==
        Ids{kBegin, 151644, 14990});
  const std::vector<models::ChatMessage> two_turns = {{.role = "user", .content = "hello"},
                                                      {.role = "assistant", .content = "hi"},
                                                      {.role = "user", .content = "again"}};
  for (const auto& messages : {std::vector<models::ChatMessage>(two_turns.begin(), two_turns.begin() + 1), two_turns}) {
    const Ids ids = chat_ids(messages, /*add_generation_prompt=*/true);
    CHECK(std::count(ids.begin(), ids.end(), kBegin) == 1);
    CHECK(ids.front() == kBegin);
    // Nor does it help to ask for special tokens.
    CHECK(encode(chat()->render(messages, /*add_generation_prompt=*/true), /*add_special_tokens=*/true) == ids);
  }
  CHECK(encode("hello", /*add_special_tokens=*/true) == Ids{kBegin, 14990});
  CHECK(encode("", /*add_special_tokens=*/true) == Ids{kBegin});
  CHECK(real_tokenizer(kR1).adds_bos());
}

TEST_CASE("B21: a post-processor's begin token is not doubled by add_bos_token or by the text") {
  MT_REQUIRE_DATA("models/stories260K");
  const models::Tokenizer& stories = real_tokenizer("stories260K");  // TemplateProcessing, and add_bos_token true
  CHECK(stories.encode("", /*add_special_tokens=*/true) == Ids{1});
  CHECK(stories.encode("Once upon a time", /*add_special_tokens=*/true) == Ids{1, 403, 407, 261, 378});
  CHECK(stories.encode("<s>a", /*add_special_tokens=*/true) == stories.encode("<s>a", /*add_special_tokens=*/false));
  CHECK(stories.adds_bos());
}

TEST_CASE("no begin token is added where neither post-processor nor tokenizer_config.json asks for one") {
  MT_REQUIRE_DATA("tokenizers/qwen2.5");
  const models::Tokenizer& qwen = real_tokenizer("qwen2.5");
  CHECK(qwen.encode("hello", /*add_special_tokens=*/true) == qwen.encode("hello", /*add_special_tokens=*/false));
  CHECK(qwen.encode("", /*add_special_tokens=*/true).empty());
  CHECK(!qwen.adds_bos());
  CHECK(!qwen.bos_id());
  CHECK(qwen.eos_id() == 151645);
}

}  // namespace minitorch::test
