// Reading and encoding prompts.
#include "examples/run_spec_decoding/prompts.h"

#include <memory>
#include <string_view>

#include <nlohmann/json.hpp>

#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"
#include "minitorch/io/json.h"
#include "models/chat_template/reasoning_splitter.h"

namespace minitorch::run_spec_decoding {
namespace {

Prompt make_prompt(std::string text, std::string origin) {
  MT_CHECK_AS(IoError, is_valid_utf8(text), "{}: expected UTF-8 text, byte {} is not valid", origin,
              valid_utf8_prefix(text));
  return {.text = std::move(text), .origin = std::move(origin)};
}

Prompt read_prompt_file(const std::string& path) {
  std::string text = io::read_input(path);
  if (text.ends_with('\n')) text.pop_back();
  return make_prompt(std::move(text), io::name_of_input(path));
}

// "a number", or the keys of an object: {"id": number, "question": string}.
std::string kind_of(const nlohmann::json& value) {
  if (!value.is_object()) return value.type_name();
  std::string keys;
  for (const auto& [key, field] : value.items()) {
    keys += fmt::format("{}\"{}\": {}", keys.empty() ? "" : ", ", key, field.type_name());
  }
  return "{" + keys + "}";
}

Prompt parse_prompt_line(std::string_view line, std::string origin) {
  const nlohmann::json value = io::parse_json(line, origin);
  const bool fits = value.is_object() && value.contains("prompt") && value["prompt"].is_string();
  MT_CHECK_AS(IoError, fits, "{}: expected an object with a text \"prompt\", got {}", origin, kind_of(value));
  return make_prompt(value["prompt"].get<std::string>(), std::move(origin));
}

std::vector<Prompt> read_prompt_lines(const std::string& path) {
  const std::string content = io::read_input(path);
  const std::string name = io::name_of_input(path);
  std::vector<Prompt> prompts;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < content.size();) {
    const std::size_t end = std::min(content.find('\n', begin), content.size());
    const std::string_view line(content.data() + begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    prompts.push_back(parse_prompt_line(line, fmt::format("{}:{}", name, number)));
  }
  MT_CHECK_AS(IoError, !prompts.empty(), "{}: expected lines with a \"prompt\", got none", name);
  return prompts;
}

std::string chat_text(const models::ChatTemplate& chat, const Options& options, const std::string& user) {
  std::vector<models::ChatMessage> messages;
  if (options.system.has_value()) messages.push_back({.role = "system", .content = *options.system});
  messages.push_back({.role = "user", .content = user});
  return chat.render(messages, /*add_generation_prompt=*/true);
}

}  // namespace

std::unique_ptr<models::ChatTemplate> chat_template_of(const models::Tokenizer& tokenizer) {
  try {
    return models::make_chat_template(tokenizer);
  } catch (const Error& error) {
    fail<Error>("{}; --raw gives the model the prompt as it is", error.what());
  }
}

void check_prompt_ids(std::span<const std::int32_t> ids, std::string_view origin, const models::LoadedModel& loaded) {
  const std::int32_t vocab_size = loaded.model->vocab_size();
  for (const std::int32_t id : ids) {
    MT_CHECK(id < vocab_size, "{}: tokenizer.json gives the id {}, but the model has ids below {} only", origin, id,
             vocab_size);
  }
  MT_CHECK(!ids.empty(), "{}: an empty --raw prompt needs a tokenizer that adds a begin token", origin);
  const std::int32_t context = loaded.model->max_context();
  MT_CHECK(ids.size() < static_cast<std::size_t>(context),
           "{}: the prompt has {} tokens, the model's context of {} has room for {}", origin, ids.size(), context,
           context - 1);
}

std::vector<Prompt> read_prompts(const Options& options) {
  if (options.prompts_file.has_value()) return read_prompt_lines(*options.prompts_file);
  if (options.prompt_file.has_value()) return {read_prompt_file(*options.prompt_file)};
  if (options.prompt.has_value()) return {make_prompt(*options.prompt, "--prompt")};
  return {make_prompt(std::string(kSamplePrompt), "sample prompt")};
}

void encode_prompts(std::vector<Prompt>& prompts, const Options& options, const models::LoadedModel& loaded) {
  const models::Tokenizer& tokenizer = loaded.tokenizer;
  const std::unique_ptr<models::ChatTemplate> chat = options.raw ? nullptr : chat_template_of(tokenizer);
  for (Prompt& prompt : prompts) {
    const std::string text = chat == nullptr ? prompt.text : chat_text(*chat, options, prompt.text);
    prompt.in_reasoning = models::ends_in_reasoning(text);
    prompt.ids = tokenizer.encode(text, /*add_special_tokens=*/chat == nullptr);  // the template writes them itself
    check_prompt_ids(prompt.ids, prompt.origin, loaded);
  }
}

}  // namespace minitorch::run_spec_decoding
