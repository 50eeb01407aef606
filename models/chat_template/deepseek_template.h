// The chat templates of DeepSeek V3 and of the R1 distills, of which there are several versions.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "models/chat_template/chat_template.h"

namespace minitorch::models {

// Null when `text` (Jinja) is none of these templates.
[[nodiscard]] std::unique_ptr<ChatTemplate> make_deepseek_template(std::string_view text, const std::string& bos_token);

}  // namespace minitorch::models
