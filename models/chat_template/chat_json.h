// Conversations as JSON, in the form of the OpenAI and Hugging Face interfaces.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/chat_template/chat_template.h"

namespace minitorch::models {

// [{"role", "content", "tool_calls": [{"type", "function": {"name", "arguments"}}]}, ...]. `where` begins messages of
// IoError.
[[nodiscard]] std::vector<ChatMessage> parse_chat_messages(const nlohmann::json& messages, const std::string& where);

}  // namespace minitorch::models
