// Chat templates: all golden conversations, older versions, and what is refused.
#include "models/chat_template/chat_template.h"

#include "models/chat_template/chat_json.h"
#include "tests/tokenizer/helpers.h"

namespace minitorch::test {
namespace {

void check_goldens(const std::string& name) {
  MT_REQUIRE_DATA("goldens/chat/" + name + ".jsonl");
  MT_REQUIRE_DATA("tokenizers/" + name);
  const models::Tokenizer& tokenizer = real_tokenizer(name);
  const auto chat = models::make_chat_template(tokenizer);
  const auto lines = read_jsonl(data_folder() / "goldens/chat" / (name + ".jsonl"));
  REQUIRE(lines.size() == 16);
  for (const auto& line : lines) {
    CAPTURE(line.at("name").get<std::string>());
    const auto messages = models::parse_chat_messages(line.at("messages"), "messages");
    const std::string text = chat->render(messages, line.at("kwargs").at("add_generation_prompt").get<bool>());
    CHECK(text == line.at("text").get<std::string>());
    CHECK(tokenizer.encode(text, /*add_special_tokens=*/false) == line.at("ids").get<std::vector<std::int32_t>>());
  }
}

// A tokenizer of one token with this chat template.
models::Tokenizer with_template(const std::string& text) {
  const nlohmann::json config = {{"bos_token", "<b>"}, {"chat_template", text}};
  return models::Tokenizer::from_json(around({}).dump(), config.dump());
}

std::string r1_template(const std::string& file) {
  return io::read_file(data_folder() / "tokenizers/deepseek_r1_distill_qwen" / file);
}

}  // namespace

TEST_CASE("every golden conversation of the R1 distills has the reference's text and ids") {
  check_goldens("deepseek_r1_distill_qwen");
}
TEST_CASE("every golden conversation of DeepSeek V3 has the reference's text and ids") { check_goldens("deepseek_v3"); }

// Of templates that are not rendered here, the text is golden too.
TEST_CASE("the text of every golden conversation of all six templates has the reference's ids") {
  for (const auto& [name, folder] : tokenizer_folders()) {
    if (name == "stories260K") continue;  // has no template
    MT_REQUIRE_DATA("goldens/chat/" + name + ".jsonl");
    MT_REQUIRE_DATA(folder);
    CAPTURE(name);
    const auto lines = read_jsonl(data_folder() / "goldens/chat" / (name + ".jsonl"));
    CHECK(lines.size() >= 14);
    for (const auto& line : lines) {
      CAPTURE(line.at("name").get<std::string>());
      const auto ids = line.at("ids").get<std::vector<std::int32_t>>();
      CHECK(real_tokenizer(name).encode(line.at("text").get<std::string>(), /*add_special_tokens=*/false) == ids);
    }
  }
}

TEST_CASE("the R1 template from before 2025-02-09 opens no thinking, and is the same otherwise") {
  MT_REQUIRE_DATA("tokenizers/deepseek_r1_distill_qwen");
  const auto now = models::make_chat_template(with_template(r1_template("chat_template.jinja")));
  const auto before = models::make_chat_template(with_template(r1_template("chat_template.before_2025-02-09.jinja")));
  const std::vector<models::ChatMessage> messages = {{.role = "system", .content = "S"},
                                                     {.role = "user", .content = "a"},
                                                     {.role = "assistant", .content = "<think>t</think>b"},
                                                     {.role = "user", .content = "c"}};
  const std::string text = before->render(messages, /*add_generation_prompt=*/true);
  CHECK(text == "<b>S<｜User｜>a<｜Assistant｜>b<｜end▁of▁sentence｜><｜User｜>c<｜Assistant｜>");
  CHECK(now->render(messages, /*add_generation_prompt=*/true) == text + "<think>\n");
  CHECK(now->render(messages, /*add_generation_prompt=*/false) ==
        before->render(messages, /*add_generation_prompt=*/false));
}

TEST_CASE("a conversation without messages is the begin token and the prompt for an answer") {
  MT_REQUIRE_DATA("tokenizers/deepseek_r1_distill_qwen");
  const auto chat = models::make_chat_template(with_template(r1_template("chat_template.jinja")));
  CHECK(chat->render({}, /*add_generation_prompt=*/true) == "<b><｜Assistant｜><think>\n");
  CHECK(chat->render({{.role = "user", .content = ""}}, /*add_generation_prompt=*/false) == "<b><｜User｜>");
}

TEST_CASE("a template that is not known, or only looks like a known one, is refused with the names of the known ones") {
  MT_REQUIRE_DATA("tokenizers/deepseek_r1_distill_qwen");
  const auto refused = [](const std::string& text) {
    return message_of([&] { (void)models::make_chat_template(with_template(text)); });
  };
  CHECK(refused("").find("came without one") != std::string::npos);
  CHECK(refused("{{ messages[0].content }}").find("expected one of the known ones") != std::string::npos);
  const std::string known = r1_template("chat_template.jinja");
  CHECK(refused(known) == "");
  std::string changed = known;
  changed.replace(changed.find("'```json'"), 9, "'```yaml'");
  CHECK(refused(changed).find("expected one of the known ones") != std::string::npos);
  CHECK(refused(known.substr(0, known.size() / 2)).find("expected one of the known ones") != std::string::npos);
}

TEST_CASE("a message that lacks what the template prints is named") {
  MT_REQUIRE_DATA("tokenizers/deepseek_r1_distill_qwen");
  const auto chat = models::make_chat_template(with_template(r1_template("chat_template.jinja")));
  const auto refused = [&](const std::string& role) {
    return message_of([&] { (void)chat->render({{.role = "user", .content = "a"}, {.role = role}}, false); });
  };
  for (const char* role : {"user", "system", "tool"}) {
    CAPTURE(role);
    CHECK(refused(role) == fmt::format("chat: message 1: expected a role \"{}\" to have content", role));
  }
  CHECK(refused("assistant") == "");  // tool calls alone are a message
}

TEST_CASE("malformed messages are refused with the place in them") {
  const auto refused = [](const char* text) {
    return message_of<IoError>([&] { (void)models::parse_chat_messages(nlohmann::json::parse(text), "messages"); });
  };
  CHECK(refused("{}") == "messages: expected an array of messages");
  CHECK(refused("[3]").find("messages[0]") == 0);
  CHECK(refused(R"([{"content": "a"}])").find("messages[0]: role: expected a string") == 0);
  CHECK(refused(R"([{"role": "user", "content": 3}])").find("messages[0]: content: expected a string, got 3") == 0);
  CHECK(refused(R"([{"role": "a", "tool_calls": {}}])").find("messages[0]: tool_calls: expected an array") == 0);
  CHECK(refused(R"([{"role": "a", "tool_calls": [{}]}])")
            .find("messages[0]: tool_calls[0]: function: expected an object") == 0);
  CHECK(
      refused(R"([{"role": "a", "tool_calls": [{"function": {"name": "f"}}]}])").find("arguments: expected a string") !=
      std::string::npos);
}

}  // namespace minitorch::test
