// Chat templates: a conversation as the text a model was trained on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace minitorch::models {

class Tokenizer;

struct ToolCall {
  std::string type = "function";
  std::string name = {};
  std::string arguments = {};  // JSON text
};

struct ChatMessage {
  std::string role = {};                    // "system", "user", "assistant", "tool"
  std::optional<std::string> content = {};  // an assistant message with tool calls may have none
  std::vector<ToolCall> tool_calls = {};
};

// One way of rendering conversations. Its result already holds the begin token: encode it without adding special
// tokens.
class ChatTemplate {
 public:
  virtual ~ChatTemplate() = default;
  // Throws Error that names the message when it lacks what the template prints.
  [[nodiscard]] virtual std::string render(const std::vector<ChatMessage>& messages,
                                           bool add_generation_prompt) const = 0;
};

// The renderer for the template text that came with the tokenizer. Throws Error when there is none, or when it is none
// of the known ones.
[[nodiscard]] std::unique_ptr<ChatTemplate> make_chat_template(const Tokenizer& tokenizer);

}  // namespace minitorch::models
