// Reading messages.
#include "models/chat_template/chat_json.h"

#include <nlohmann/json.hpp>

#include "minitorch/base/check.h"
#include "models/json_fields.h"

namespace minitorch::models {
namespace {

std::string required(const JsonFields& fields, std::string_view field) {
  std::optional<std::string> text = fields.text(field);
  if (!text) fields.refuse(field, "a string");
  return *std::move(text);
}

ToolCall parse_call(const nlohmann::json& value, const std::string& where) {
  const JsonFields fields(value, where);
  const std::optional<JsonFields> function = fields.object("function");
  if (!function) fields.refuse("function", "an object");
  return {.type = fields.text("type").value_or("function"),
          .name = required(*function, "name"),
          .arguments = required(*function, "arguments")};
}

ChatMessage parse_message(const nlohmann::json& value, const std::string& where) {
  const JsonFields fields(value, where);
  ChatMessage message{.role = required(fields, "role"), .content = fields.text("content")};
  const nlohmann::json* calls = fields.find("tool_calls");
  if (calls == nullptr) return message;
  if (!calls->is_array()) fields.refuse("tool_calls", "an array");
  for (std::size_t i = 0; i < calls->size(); ++i) {
    message.tool_calls.push_back(parse_call((*calls)[i], fmt::format("{}: tool_calls[{}]", where, i)));
  }
  return message;
}

}  // namespace

std::vector<ChatMessage> parse_chat_messages(const nlohmann::json& messages, const std::string& where) {
  MT_CHECK_AS(IoError, messages.is_array(), "{}: expected an array of messages", where);
  std::vector<ChatMessage> result;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    result.push_back(parse_message(messages[i], fmt::format("{}[{}]", where, i)));
  }
  return result;
}

}  // namespace minitorch::models
