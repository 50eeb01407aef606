// The template's Jinja text, and the same rules as code.
#include "models/chat_template/tiny_r1_template.h"

#include <utility>

#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"

namespace minitorch::models {
namespace {

// Messages of other roles print nothing, in Jinja as in code.
class TinyR1Template : public ChatTemplate {
 public:
  explicit TinyR1Template(std::string bos_token) : bos_token_(std::move(bos_token)) {}

  std::string render(const std::vector<ChatMessage>& messages, bool add_generation_prompt) const override {
    std::string text = bos_token_;
    bool is_first = true;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      if (messages[i].role != "system") continue;
      if (!std::exchange(is_first, false)) text += "\n\n";
      text += content_of(messages[i], i);
    }
    for (std::size_t i = 0; i < messages.size(); ++i) {
      if (messages[i].role == "user") {
        text.append(kTinyR1User).append(content_of(messages[i], i));
      } else if (messages[i].role == "assistant") {
        text.append(kTinyR1Assistant).append(content_of(messages[i], i)).append(kTinyR1End);
      }
    }
    if (add_generation_prompt) text.append(kTinyR1Assistant).append(kTinyR1Think).append("\n");
    return text;
  }

 private:
  static const std::string& content_of(const ChatMessage& message, std::size_t index) {
    MT_CHECK(message.content.has_value(), "chat: message {}: expected a role \"{}\" to have content", index,
             printable(message.role, 40));
    return *message.content;
  }

  std::string bos_token_;
};

}  // namespace

std::string tiny_r1_template_text() {
  return fmt::format(
      "{{{{- bos_token -}}}}"
      "{{%- for message in messages if message['role'] == 'system' -%}}"
      "{{%- if not loop.first -%}}{{{{- '\\n\\n' -}}}}{{%- endif -%}}{{{{- message['content'] -}}}}"
      "{{%- endfor -%}}"
      "{{%- for message in messages -%}}"
      "{{%- if message['role'] == 'user' -%}}{{{{- '{user}' + message['content'] -}}}}"
      "{{%- elif message['role'] == 'assistant' -%}}{{{{- '{assistant}' + message['content'] + '{end}' -}}}}"
      "{{%- endif -%}}"
      "{{%- endfor -%}}"
      "{{%- if add_generation_prompt -%}}{{{{- '{assistant}{think}\\n' -}}}}{{%- endif -%}}",
      fmt::arg("user", kTinyR1User), fmt::arg("assistant", kTinyR1Assistant), fmt::arg("end", kTinyR1End),
      fmt::arg("think", kTinyR1Think));
}

std::unique_ptr<ChatTemplate> make_tiny_r1_template(std::string_view text, const std::string& bos_token) {
  text = text.substr(0, text.find_last_not_of("\r\n") + 1);
  return text == tiny_r1_template_text() ? std::make_unique<TinyR1Template>(bos_token) : nullptr;
}

}  // namespace minitorch::models
