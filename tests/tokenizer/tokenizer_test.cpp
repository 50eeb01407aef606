// The tokenizer's interface: tokens and ids, folders, configuration, use from several threads.
#include <thread>

#include "tests/tokenizer/helpers.h"

namespace minitorch::test {
namespace {

using Ids = std::vector<std::int32_t>;

nlohmann::json small_document() {
  return around(
      {{"added_tokens",
        {{{"id", 5}, {"content", "<s>"}, {"special", true}}, {{"id", 6}, {"content", "<x>"}, {"special", false}}}}});
}

}  // namespace

TEST_CASE("tokens and ids find each other, added ones too, and holes are known") {
  const auto tokenizer = models::Tokenizer::from_json(small_document().dump());
  CHECK(tokenizer.size() == 7);
  CHECK(tokenizer.id_of("a") == 0);
  CHECK(tokenizer.id_of("<s>") == 5);
  CHECK(!tokenizer.id_of("b"));
  CHECK(tokenizer.token_of(0) == "a");
  CHECK(tokenizer.token_of(6) == "<x>");
  CHECK(tokenizer.token_of(3) == "");
  for (const std::int32_t id : {0, 5, 6}) CHECK(tokenizer.has_id(id));
  for (const std::int32_t id : {-1, 1, 4, 7}) CHECK(!tokenizer.has_id(id));
  CHECK(tokenizer.is_special(5));
  CHECK(!tokenizer.is_special(6));
  CHECK(!tokenizer.is_special(0));
}

TEST_CASE("without any configuration there is no begin token, no end token and no chat template") {
  const auto tokenizer = models::Tokenizer::from_json(small_document().dump());
  CHECK(!tokenizer.bos_id());
  CHECK(!tokenizer.eos_id());
  CHECK(tokenizer.bos_token() == "");
  CHECK(tokenizer.eos_token() == "");
  CHECK(tokenizer.chat_template() == "");
  CHECK(!tokenizer.adds_bos());
  CHECK(tokenizer.encode("", /*add_special_tokens=*/true).empty());
}

TEST_CASE("add_bos_token puts the begin token in front, once, and only when asked") {
  const auto tokenizer = models::Tokenizer::from_json(
      small_document().dump(), R"({"add_bos_token": true, "bos_token": {"content": "<s>"}, "eos_token": "<x>"})");
  CHECK(tokenizer.adds_bos());
  CHECK(tokenizer.bos_id() == 5);
  CHECK(tokenizer.eos_id() == 6);
  CHECK(tokenizer.encode("a", /*add_special_tokens=*/true) == Ids{5, 0});
  CHECK(tokenizer.encode("a", /*add_special_tokens=*/false) == Ids{0});
  CHECK(tokenizer.encode("<s>a", /*add_special_tokens=*/true) == Ids{5, 0});
  CHECK(tokenizer.encode("<s><s>a", /*add_special_tokens=*/true) == Ids{5, 5, 0});  // both stand in the text
  CHECK(tokenizer.encode("a<s>", /*add_special_tokens=*/true) == Ids{5, 0, 5});
}

TEST_CASE("the chat template is a text, or the one named default, and chat_template.jinja comes first") {
  const auto template_of = [](const char* config) {
    return models::Tokenizer::from_json(small_document().dump(), config).chat_template();
  };
  CHECK(template_of(R"({"chat_template": "T"})") == "T");
  CHECK(template_of(
            R"({"chat_template": [{"name": "tool_use", "template": "U"}, {"name": "default", "template": "D"}]})") ==
        "D");
  CHECK(template_of(R"({"chat_template": [{"name": "tool_use", "template": "U"}]})") == "");
  const TemporaryFolder folder;
  write_file(folder.path() / "tokenizer.json", small_document().dump());
  CHECK(models::Tokenizer::from_directory(folder.path()).chat_template() == "");
  write_file(folder.path() / "tokenizer_config.json", R"({"chat_template": "T"})");
  CHECK(models::Tokenizer::from_directory(folder.path()).chat_template() == "T");
  write_file(folder.path() / "chat_template.jinja", "J");
  CHECK(models::Tokenizer::from_directory(folder.path()).chat_template() == "J");
}

TEST_CASE("a folder on disk gives the same tokenizer as its texts") {
  MT_REQUIRE_DATA("models/stories260K");
  const auto tokenizer = models::Tokenizer::from_directory(data_folder() / "models/stories260K");
  const std::string text = "Once upon a time, there was a little girl named Lily.";
  CHECK(tokenizer.encode(text, true) == real_tokenizer("stories260K").encode(text, true));
  CHECK(tokenizer.size() == 512);
}

TEST_CASE("one tokenizer serves several threads at once") {
  MT_REQUIRE_DATA("models/stories260K");
  const models::Tokenizer& tokenizer = real_tokenizer("stories260K");
  const std::string text = "Lily liked to play with her toys. 你好 <s> 123";
  const Ids expected = tokenizer.encode(text, /*add_special_tokens=*/true);
  std::vector<int> num_equal(4);
  std::vector<std::thread> threads;
  for (int& count : num_equal) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const Ids ids = tokenizer.encode(text, /*add_special_tokens=*/true);
        count += ids == expected && tokenizer.decode(ids) == tokenizer.decode(expected) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : num_equal) CHECK(count == 50);
}

TEST_CASE("a merge list in an old file may begin with its version") {
  nlohmann::json document = around({});
  document["model"]["vocab"] = {{"a", 0}, {"aa", 1}};
  document["model"]["merges"] = {"#version: 0.2", "a a"};
  document["model"].erase("type");
  CHECK(models::Tokenizer::from_json(document.dump()).encode("aaa", /*add_special_tokens=*/false) == Ids{1, 0});
}

}  // namespace minitorch::test
