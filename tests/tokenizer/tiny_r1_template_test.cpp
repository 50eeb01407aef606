// The tiny pair's chat template against Jinja, and which templates it is taken for.
#include "models/chat_template/tiny_r1_template.h"

#include "models/chat_template/chat_json.h"
#include "tests/tokenizer/helpers.h"

namespace minitorch::test {
namespace {

models::Tokenizer with_template(const std::string& text) {
  const nlohmann::json config = {{"bos_token", models::kTinyR1Begin}, {"chat_template", text}};
  return models::Tokenizer::from_json(around({}).dump(), config.dump());
}

}  // namespace

TEST_CASE("the tiny pair's template renders every golden conversation as transformers does") {
  int num_conversations = 0;
  const auto chat = models::make_chat_template(with_template(models::tiny_r1_template_text()));
  for (const auto& line : read_jsonl(golden_file("tokenizer/trained.jsonl"))) {
    const auto kind = line.at("kind").get<std::string>();
    if (kind == "template") CHECK(models::tiny_r1_template_text() == line.at("text").get<std::string>());
    if (kind != "conversation") continue;
    CAPTURE(line.dump());
    const auto messages = models::parse_chat_messages(line.at("messages"), "messages");
    CHECK(chat->render(messages, line.at("add_generation_prompt").get<bool>()) == line.at("text").get<std::string>());
    ++num_conversations;
  }
  CHECK(num_conversations == 9);
}

TEST_CASE("the prompt for an answer is the beginning of the conversation with that answer") {
  const auto chat = models::make_chat_template(with_template(models::tiny_r1_template_text()));
  const models::ChatMessage question{.role = "user", .content = "q"};
  const std::string prompt = chat->render({question}, /*add_generation_prompt=*/true);
  CHECK(prompt == "<|begin_of_sentence|><|user|>q<|assistant|><think>\n");
  CHECK(chat->render({question, {.role = "assistant", .content = "<think>\nt\n</think>\na"}}, false) ==
        prompt + "t\n</think>\na<|end_of_sentence|>");
}

TEST_CASE("only the tiny pair's own template is taken for it") {
  const std::string known = models::tiny_r1_template_text();
  CHECK(models::make_tiny_r1_template(known, "") != nullptr);
  CHECK(models::make_tiny_r1_template(known + "\n", "") != nullptr);
  CHECK(models::make_tiny_r1_template(known + " ", "") == nullptr);
  CHECK(models::make_tiny_r1_template(known.substr(1), "") == nullptr);
  CHECK(models::make_tiny_r1_template("", "") == nullptr);
}

TEST_CASE("a message of the tiny pair's template that lacks its content is named") {
  const auto chat = models::make_chat_template(with_template(models::tiny_r1_template_text()));
  for (const char* role : {"user", "system", "assistant"}) {
    CAPTURE(role);
    CHECK(message_of([&] {
            (void)chat->render({{.role = "user", .content = "a"}, {.role = role}}, false);
          }) == fmt::format("chat: message 1: expected a role \"{}\" to have content", role));
  }
  CHECK(message_of([&] { (void)chat->render({{.role = "tool"}}, false); }) == "");
}

}  // namespace minitorch::test
