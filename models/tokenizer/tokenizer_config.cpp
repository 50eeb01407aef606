// Reading tokenizer_config.json.
#include "models/tokenizer/tokenizer_config.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "minitorch/io/json.h"
#include "models/json_fields.h"
#include "models/tokenizer/json_steps.h"

namespace minitorch::models {
namespace {

// A token is its text, or an object that has it as "content".
std::optional<std::string> token(const JsonFields& fields, std::string_view field) {
  const nlohmann::json* value = fields.find(field);
  if (value == nullptr || !value->is_object()) return fields.text(field);
  return required_text(required_object(fields, field), "content");
}

std::string chat_template(const JsonFields& fields) {
  const nlohmann::json* value = fields.find("chat_template");
  if (value == nullptr || !value->is_array()) return fields.text("chat_template").value_or("");
  for (const JsonFields& named : objects(fields, "chat_template")) {
    if (required_text(named, "name") == "default") return required_text(named, "template");
  }
  return "";
}

}  // namespace

TokenizerConfig parse_tokenizer_config(std::string_view text, std::string_view name) {
  if (text.empty()) return {};
  const nlohmann::json document = io::parse_json(text, name);
  const JsonFields fields(document, std::string(name));
  return {.add_bos_token = fields.boolean("add_bos_token").value_or(false),
          .bos_token = token(fields, "bos_token"),
          .eos_token = token(fields, "eos_token"),
          .chat_template = chat_template(fields)};
}

}  // namespace minitorch::models
