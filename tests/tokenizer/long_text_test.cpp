// A megabyte of anything is encoded in time that grows like its size: these cases would take hours if it grew like its
// square.
#include "tests/support/emulation.h"
#include "tests/tokenizer/helpers.h"

namespace minitorch::test {
namespace {

std::size_t text_size() { return emulated() ? 20'000 : 1'000'000; }

std::string repeated(const std::string& unit) {
  std::string text;
  while (text.size() + unit.size() <= text_size()) text += unit;
  return text;
}

void check_long_texts(const std::string& name) {
  MT_REQUIRE_DATA(tokenizer_folders().at(name));
  const models::Tokenizer& tokenizer = real_tokenizer(name);
  for (const std::string unit : {"a", " ", "1", "é", "\n", "-", "字", "😀", "\u0301", "\u0301\u0316\u0334", "<",
                                 "<|im_start|>", "a ", "ab", "\U0001E030", "<｜", "e\u0301", "\u00A0", "' "}) {
    CAPTURE(unit);
    const std::string text = repeated(unit);
    const auto ids = tokenizer.encode(text, /*add_special_tokens=*/false);
    CHECK(!ids.empty());
    const bool composes = unit.find("\xCC") != std::string::npos && name != "deepseek_v3" && name != "llama3";
    if (!composes && name != "stories260K") CHECK(tokenizer.decode(ids) == text);
  }
}

}  // namespace

TEST_CASE("a megabyte of one repeated string is encoded and decoded by the Qwen tokenizer") {
  check_long_texts("qwen2.5");
}
TEST_CASE("a megabyte of one repeated string is encoded and decoded by the DeepSeek tokenizer") {
  check_long_texts("deepseek_v3");
}
TEST_CASE("a megabyte of one repeated string is encoded and decoded by the Llama 3 tokenizer") {
  check_long_texts("llama3");
}
TEST_CASE("a megabyte of one repeated string is encoded by the SentencePiece tokenizer, which does not split it") {
  check_long_texts("stories260K");
}

}  // namespace minitorch::test
