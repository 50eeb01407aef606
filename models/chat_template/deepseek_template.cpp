// One renderer; where the versions differ is read from the template text. A version is told by the string literals in
// its text: all markers must be there, and nothing unknown, so that a newer version with other rules is not taken for
// an old one.
#include "models/chat_template/deepseek_template.h"

#include <algorithm>
#include <utility>

#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"

namespace minitorch::models {
namespace {

constexpr std::string_view kUser = "<｜User｜>";
constexpr std::string_view kAssistant = "<｜Assistant｜>";
constexpr std::string_view kEndOfSentence = "<｜end▁of▁sentence｜>";
constexpr std::string_view kFirstCallBegin = "<｜Assistant｜><｜tool▁calls▁begin｜><｜tool▁call▁begin｜>";
constexpr std::string_view kCallBegin = "<｜tool▁call▁begin｜>";
constexpr std::string_view kCallEnd = "<｜tool▁call▁end｜>";
constexpr std::string_view kCallsEnd = "<｜tool▁calls▁end｜><｜end▁of▁sentence｜>";
constexpr std::string_view kCallSeparator = "<｜tool▁sep｜>";
constexpr std::string_view kFirstOutputBegin = "<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>";
constexpr std::string_view kNextOutputBegin = "\n<｜tool▁output▁begin｜>";
constexpr std::string_view kOutputEnd = "<｜tool▁output▁end｜>";
constexpr std::string_view kOutputsEnd = "<｜tool▁outputs▁end｜>";
constexpr std::string_view kThinkEnd = "</think>";

// The literals of all versions.
constexpr std::string_view kMarkers[] = {kUser,      kAssistant,        kEndOfSentence,   kFirstCallBegin,
                                         kCallBegin, kCallEnd,          kCallsEnd,        kCallSeparator,
                                         kOutputEnd, kFirstOutputBegin, kNextOutputBegin, kOutputsEnd};
constexpr std::string_view kNames[] = {"",          "\n",         "\n\n",     "```",  "```json", "arguments",
                                       "assistant", "content",    "function", "name", "role",    "system",
                                       "tool",      "tool_calls", "type",     "user"};

struct Version {
  bool strips_thinking = false;        // drops earlier answers up to the last </think>
  bool joins_systems = false;          // with empty lines; else only the last system message counts
  std::string generation_prompt = {};  // behind the conversation when the model is to answer
};

// The text of all 'quoted' literals in a Jinja template.
std::vector<std::string> string_literals(std::string_view text) {
  std::vector<std::string> literals;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\'') {
      inside = !inside;
      if (inside) literals.emplace_back();
    } else if (inside && text[i] == '\\' && i + 1 < text.size()) {
      ++i;
      literals.back() += text[i] == 'n' ? '\n' : text[i];
    } else if (inside) {
      literals.back() += text[i];
    }
  }
  return literals;
}

template <typename Range>
bool contains(const Range& range, std::string_view value) {
  return std::find(std::begin(range), std::end(range), value) != std::end(range);
}

std::optional<Version> version_of(std::string_view text) {
  std::vector<std::string> literals = string_literals(text);
  if (literals.empty() || !literals.back().starts_with(kAssistant)) return std::nullopt;
  Version version{.strips_thinking = text.find("split('</think>')[-1]") != std::string_view::npos,
                  .joins_systems = text.find("ns.is_first_sp") != std::string_view::npos,
                  .generation_prompt = std::move(literals.back())};
  literals.pop_back();
  const bool complete = std::all_of(std::begin(kMarkers), std::end(kMarkers),
                                    [&](std::string_view marker) { return contains(literals, marker); });
  const bool known = std::all_of(literals.begin(), literals.end(), [&](const std::string& literal) {
    if (literal == kThinkEnd) return version.strips_thinking;
    if (literal == "\n\n") return version.joins_systems;
    return contains(kMarkers, literal) || contains(kNames, literal);
  });
  return complete && known ? std::optional(version) : std::nullopt;
}

// One conversation being written. Names and order follow the template, oddities included: the end of the tool calls is
// written behind the second call and every later one, and only the first answer of a tool opens the list of outputs.
class Writer {
 public:
  Writer(const Version& version, std::string text) : version_(version), text_(std::move(text)) {}

  void add(const ChatMessage& message, std::size_t index) {
    if (message.role == "user") {
      awaits_answer_to_tool_ = false;
      write({kUser, content_of(message, index)});
    } else if (message.role == "assistant" && message.content) {
      add_answer(*message.content);
    } else if (message.role == "assistant") {
      awaits_answer_to_tool_ = false;
      for (const ToolCall& call : message.tool_calls) add_call(call);
    } else if (message.role == "tool") {
      awaits_answer_to_tool_ = true;
      write({std::exchange(first_output_, false) ? kFirstOutputBegin : kNextOutputBegin, content_of(message, index),
             kOutputEnd});
    } else {
      // The template leaves such messages out, which nobody asks for.
      MT_CHECK(message.role == "system",
               "chat: message {}: expected the role system, user, assistant or tool, got \"{}\"", index,
               printable(message.role, 40));
    }
  }

  std::string finish(bool add_generation_prompt) {
    if (awaits_answer_to_tool_) write({kOutputsEnd});
    if (add_generation_prompt && !awaits_answer_to_tool_) write({version_.generation_prompt});
    return std::move(text_);
  }

  static const std::string& content_of(const ChatMessage& message, std::size_t index) {
    MT_CHECK(message.content.has_value(), "chat: message {}: expected a role \"{}\" to have content", index,
             printable(message.role, 40));
    return *message.content;
  }

 private:
  void write(std::initializer_list<std::string_view> parts) {
    for (const std::string_view part : parts) text_ += part;
  }

  void add_answer(std::string_view answer) {
    if (std::exchange(awaits_answer_to_tool_, false)) return write({kOutputsEnd, answer, kEndOfSentence});
    const std::size_t thinking = version_.strips_thinking ? answer.rfind(kThinkEnd) : std::string_view::npos;
    if (thinking != std::string_view::npos) answer.remove_prefix(thinking + kThinkEnd.size());
    write({kAssistant, answer, kEndOfSentence});
  }

  void add_call(const ToolCall& call) {
    const bool first = std::exchange(first_call_, false);
    if (first) {
      write({kFirstCallBegin});
    } else {
      write({"\n", kCallBegin});
    }
    write({call.type, kCallSeparator, call.name, "\n```json\n", call.arguments, "\n```", kCallEnd});
    if (!first) write({kCallsEnd});
  }

  const Version& version_;
  std::string text_;
  bool first_call_ = true;    // in the whole conversation
  bool first_output_ = true;  // likewise
  bool awaits_answer_to_tool_ = false;
};

class DeepSeekTemplate : public ChatTemplate {
 public:
  DeepSeekTemplate(Version version, std::string bos_token)
      : version_(std::move(version)), bos_token_(std::move(bos_token)) {}

  std::string render(const std::vector<ChatMessage>& messages, bool add_generation_prompt) const override {
    Writer writer(version_, bos_token_ + system_prompt(messages));
    for (std::size_t i = 0; i < messages.size(); ++i) writer.add(messages[i], i);
    return writer.finish(add_generation_prompt);
  }

 private:
  std::string system_prompt(const std::vector<ChatMessage>& messages) const {
    std::string prompt;
    bool first = true;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      if (messages[i].role != "system") continue;
      const std::string& content = Writer::content_of(messages[i], i);
      if (first || !version_.joins_systems) {
        prompt = content;
      } else {
        prompt.append("\n\n").append(content);
      }
      first = false;
    }
    return prompt;
  }

  Version version_;
  std::string bos_token_;
};

}  // namespace

std::unique_ptr<ChatTemplate> make_deepseek_template(std::string_view text, const std::string& bos_token) {
  std::optional<Version> version = version_of(text);
  return version ? std::make_unique<DeepSeekTemplate>(*std::move(version), bos_token) : nullptr;
}

}  // namespace minitorch::models
