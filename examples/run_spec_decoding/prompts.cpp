// Reading and encoding prompts.
#include "examples/run_spec_decoding/prompts.h"

#include <iostream>  // std::cin
#include <iterator>
#include <memory>
#include <string_view>

#include <nlohmann/json.hpp>

#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"
#include "minitorch/io/json.h"
#include "models/chat_template/chat_template.h"

namespace minitorch::run_spec_decoding {
namespace {

Prompt make_prompt(std::string text, std::string origin) {
  MT_CHECK_AS(IoError, is_valid_utf8(text), "{}: expected UTF-8 text, byte {} is not valid", origin,
              valid_utf8_prefix(text));
  return {.text = std::move(text), .origin = std::move(origin), .ids = {}};
}

std::string read_stdin() {
  std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  MT_CHECK_AS(IoError, !std::cin.bad(), "cannot read standard input");
  return text;
}

Prompt read_prompt_file(const std::string& path) {
  std::string text = path == "-" ? read_stdin() : io::read_file(path);
  if (text.ends_with('\n')) text.pop_back();
  return make_prompt(std::move(text), path == "-" ? "standard input" : path);
}

Prompt parse_prompt_line(std::string_view line, std::string origin) {
  const nlohmann::json value = io::parse_json(line, origin);
  const bool fits = value.is_object() && value.contains("prompt") && value["prompt"].is_string();
  MT_CHECK_AS(IoError, fits, "{}: expected an object with a text \"prompt\"", origin);
  return make_prompt(value["prompt"].get<std::string>(), std::move(origin));
}

std::vector<Prompt> read_prompt_lines(const std::string& path) {
  const std::string content = path == "-" ? read_stdin() : io::read_file(path);
  std::vector<Prompt> prompts;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < content.size();) {
    const std::size_t end = std::min(content.find('\n', begin), content.size());
    const std::string_view line(content.data() + begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    prompts.push_back(parse_prompt_line(line, fmt::format("{}:{}", path, number)));
  }
  MT_CHECK_AS(IoError, !prompts.empty(), "{}: expected lines with a \"prompt\", got none", path);
  return prompts;
}

std::string chat_text(const models::ChatTemplate& chat, const Options& options, const std::string& user) {
  std::vector<models::ChatMessage> messages;
  if (options.system.has_value()) messages.push_back({.role = "system", .content = *options.system});
  messages.push_back({.role = "user", .content = user});
  return chat.render(messages, /*add_generation_prompt=*/true);
}

}  // namespace

std::vector<Prompt> read_prompts(const Options& options) {
  if (options.prompts_file.has_value()) return read_prompt_lines(*options.prompts_file);
  std::vector<Prompt> prompts;
  prompts.push_back(options.prompt.has_value() ? make_prompt(*options.prompt, "--prompt")
                                               : read_prompt_file(*options.prompt_file));
  return prompts;
}

void encode_prompts(std::vector<Prompt>& prompts, const Options& options, const models::LoadedModel& loaded) {
  const models::Tokenizer& tokenizer = loaded.tokenizer;
  const std::unique_ptr<models::ChatTemplate> chat = options.raw ? nullptr : models::make_chat_template(tokenizer);
  const std::int32_t context = loaded.model->max_context();
  for (Prompt& prompt : prompts) {
    // The template writes the begin token itself.
    prompt.ids = chat == nullptr
                     ? tokenizer.encode(prompt.text, /*add_special_tokens=*/true)
                     : tokenizer.encode(chat_text(*chat, options, prompt.text), /*add_special_tokens=*/false);
    MT_CHECK(!prompt.ids.empty(), "{}: an empty --raw prompt needs a tokenizer that adds a begin token", prompt.origin);
    MT_CHECK(prompt.ids.size() < static_cast<std::size_t>(context),
             "{}: the prompt has {} tokens, the model's context of {} has room for {}", prompt.origin,
             prompt.ids.size(), context, context - 1);
  }
}

}  // namespace minitorch::run_spec_decoding
