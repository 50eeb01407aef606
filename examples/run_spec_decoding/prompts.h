// The prompts of a run: where they come from, and what the model reads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "examples/run_spec_decoding/options.h"
#include "models/chat_template/chat_template.h"

namespace minitorch::run_spec_decoding {

// What is decoded when no prompt is given; the README shows it.
inline constexpr std::string_view kSamplePrompt =
    "Noah had 37 apples. Amy gave Noah 45 apples. Then Noah ate 18 apples. How many apples does Noah have now?";

struct Prompt {
  std::string text;
  std::string origin;  // "--prompt", "questions.jsonl:3": begins error messages
  std::vector<std::int32_t> ids = {};
  bool in_reasoning = false;  // what the model reads ends inside its reasoning
};

// Reads the texts; ids stay empty. Throws Error that names the source of text that is no UTF-8 or no JSON.
[[nodiscard]] std::vector<Prompt> read_prompts(const Options& options);

// The template that the tokenizer came with. Throws Error that mentions --raw when there is none or it is unknown.
[[nodiscard]] std::unique_ptr<models::ChatTemplate> chat_template_of(const models::Tokenizer& tokenizer);

// Throws Error that begins with `origin` when the ids are none, are not the model's, or leave no room in the context.
void check_prompt_ids(std::span<const std::int32_t> ids, std::string_view origin, const models::LoadedModel& loaded);

// Fills in the ids: through the chat template, or with --raw by the tokenizer's own rule. Throws Error that names a
// prompt that is empty or leaves no room in the context.
void encode_prompts(std::vector<Prompt>& prompts, const Options& options, const models::LoadedModel& loaded);

}  // namespace minitorch::run_spec_decoding
