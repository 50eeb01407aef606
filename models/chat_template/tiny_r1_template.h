// The chat template of the tiny R1-like pair, and its tokens. It is this project's own: system texts first, then the
// turns; every answer opens with its thinking, which earlier turns keep, so that a rendered conversation is a training
// text and the prompt for an answer is the beginning of it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "models/chat_template/chat_template.h"

namespace minitorch::models {

inline constexpr std::string_view kTinyR1Begin = "<|begin_of_sentence|>";
inline constexpr std::string_view kTinyR1End = "<|end_of_sentence|>";
inline constexpr std::string_view kTinyR1User = "<|user|>";
inline constexpr std::string_view kTinyR1Assistant = "<|assistant|>";
inline constexpr std::string_view kTinyR1Think = "<think>";
inline constexpr std::string_view kTinyR1EndThink = "</think>";

// The template as Jinja, for tokenizer_config.json.
[[nodiscard]] std::string tiny_r1_template_text();

// Null when `text` is not that template, to the letter (line breaks at its end do not count).
[[nodiscard]] std::unique_ptr<ChatTemplate> make_tiny_r1_template(std::string_view text, const std::string& bos_token);

}  // namespace minitorch::models
