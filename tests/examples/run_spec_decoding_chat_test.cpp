// run_spec_decoding in chat form, with the tokenizer and template of DeepSeek-R1-Distill-Qwen over random weights.
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/examples/spec_decoding_folders.h"

using namespace minitorch::test;
using nlohmann::json;

namespace {

constexpr const char* kTokenizerFolder = "tokenizers/deepseek_r1_distill_qwen";
constexpr const char* kGoldens = "goldens/chat/deepseek_r1_distill_qwen.jsonl";

class ChatModelFolder {
 public:
  ChatModelFolder() {
    RandomModelShape shape;
    shape.vocab_size = 151936;  // rows; the tokenizer's ids end at 151664
    shape.hidden_size = 8;
    shape.intermediate_size = 8;
    shape.num_layers = 1;
    shape.num_heads = 2;
    shape.head_dim = 4;
    shape.tie_word_embeddings = true;
    write_random_checkpoint(folder_.path(), shape, 4);
    const auto source = data_folder() / kTokenizerFolder;
    write_file(folder_.path() / "tokenizer.json", read_xz(source / "tokenizer.json.xz"));
    write_file(folder_.path() / "tokenizer_config.json", content_of(source / "tokenizer_config.json"));
  }
  [[nodiscard]] std::string path() const { return folder_.path().string(); }

 private:
  TemporaryFolder folder_;
};

// Conversations of one user turn, with or without a system text before it.
struct Conversation {
  std::optional<std::string> system;
  std::string user;
  std::size_t num_ids;
};

std::vector<Conversation> single_turn_goldens() {
  std::vector<Conversation> conversations;
  for (const json& line : read_jsonl(data_folder() / kGoldens)) {
    const json& messages = line["messages"];
    if (!line["kwargs"].value("add_generation_prompt", false) || messages.back()["role"] != "user") continue;
    if (messages.size() == 1) {
      conversations.push_back({std::nullopt, messages[0]["content"], line["ids"].size()});
    } else if (messages.size() == 2 && messages[0]["role"] == "system") {
      conversations.push_back({messages[0]["content"].get<std::string>(), messages[1]["content"], line["ids"].size()});
    }
  }
  return conversations;
}

}  // namespace

TEST_CASE("chat prompts have the tokens of the template: one begin token, system text, empty turns") {
  MT_REQUIRE_DATA(kTokenizerFolder);
  MT_REQUIRE_DATA(kGoldens);
  const ChatModelFolder folder;
  const auto prompt_tokens = [&](const Arguments& more) {
    Arguments arguments{"--target", folder.path(), "--max-new-tokens", "3"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const json record = run_to_json(arguments);
    CHECK(record["identical"] == true);
    for (const int id : record["speculative"]["ids"]) CHECK(id < 151665);
    return record["speculative"]["prompt_tokens"].get<std::size_t>();
  };
  const std::vector<Conversation> conversations = single_turn_goldens();
  REQUIRE_FALSE(conversations.empty());
  for (const Conversation& conversation : conversations) {
    CAPTURE(conversation.user);
    Arguments arguments{"--prompt", conversation.user};
    if (conversation.system.has_value()) arguments.insert(arguments.end(), {"--system", *conversation.system});
    CHECK(prompt_tokens(arguments) == conversation.num_ids);
  }
  // <begin><User><Assistant><think>\n
  CHECK(prompt_tokens({"--prompt", ""}) == 5);
  CHECK(prompt_tokens({"--prompt", "", "--raw"}) == 1);
  CHECK(prompt_tokens({"--prompt", "Hi"}) == 6);
  CHECK(prompt_tokens({"--prompt", "Hi", "--raw"}) == 2);
  CHECK(prompt_tokens({"--prompt", "Hi", "--system", "Hi"}) == 7);
}
