// One byte at a time, so that where the text is cut cannot matter. What is held back is ASCII: no character is torn.
#include "models/chat_template/reasoning_splitter.h"

#include <utility>

#include "minitorch/base/check.h"

namespace minitorch::models {
namespace {

constexpr std::string_view kOpeningTag = "<think>";
constexpr std::string_view kClosingTag = "</think>";
constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";

bool is_white_space(char byte) { return kWhiteSpace.find(byte) != std::string_view::npos; }

}  // namespace

bool ends_in_reasoning(std::string_view prompt_text) {
  return prompt_text.substr(0, prompt_text.find_last_not_of(kWhiteSpace) + 1).ends_with(kOpeningTag);
}

const ReasoningSplitter::Delta& ReasoningSplitter::push(std::string_view text) {
  MT_CHECK(!finished_, "reasoning splitter: expected no more text after its end, got {} bytes", text.size());
  begin_delta();
  while (!text.empty() && phase_ != Phase::kAnswer) {
    put(text.front());
    text.remove_prefix(1);
  }
  if (!text.empty()) give(text);
  return delta_;
}

const ReasoningSplitter::Delta& ReasoningSplitter::finish() {
  begin_delta();
  finished_ = true;
  if (phase_ == Phase::kBeginning && !held_.empty()) begin_text();
  const bool is_white = tag_matched_ == 0;  // white space at the end is part of an answer only
  const std::string rest = std::exchange(held_, {});
  if (!rest.empty() && (phase_ == Phase::kUntagged || !is_white)) give(rest);
  return delta_;
}

// Keeps the strings' memory.
void ReasoningSplitter::begin_delta() {
  delta_.reasoning.clear();
  delta_.answer.clear();
  delta_.was_reasoning = false;
}

void ReasoningSplitter::put(char byte) {
  switch (phase_) {
    case Phase::kBeginning: return put_at_beginning(byte);
    case Phase::kReasoning:
    case Phase::kUntagged: return put_before_closing_tag(byte);
    case Phase::kBehindReasoning:
      if (is_white_space(byte)) return;
      phase_ = Phase::kAnswer;
      [[fallthrough]];
    case Phase::kAnswer: return give({&byte, 1});
  }
}

void ReasoningSplitter::put_at_beginning(char byte) {
  if (held_.empty() && is_white_space(byte)) return;
  held_ += byte;
  if (!kOpeningTag.starts_with(held_)) return begin_text();
  if (held_.size() < kOpeningTag.size()) return;
  held_.clear();
  phase_ = Phase::kReasoning;
}

// What is held is no opening tag: it is text, or begins a closing one.
void ReasoningSplitter::begin_text() {
  phase_ = in_reasoning_ ? Phase::kReasoning : Phase::kUntagged;
  for (const char byte : std::exchange(held_, {})) put_before_closing_tag(byte);
}

void ReasoningSplitter::put_before_closing_tag(char byte) {
  if (byte == kClosingTag[tag_matched_]) {
    held_ += byte;
    if (++tag_matched_ == kClosingTag.size()) close_reasoning();
    return;
  }
  if (std::exchange(tag_matched_, 0) > 0) {
    give(std::exchange(held_, {}));
    put_before_closing_tag(byte);  // it may begin the tag, which has its first character nowhere else
  } else if (is_white_space(byte)) {
    if (!reasoning_.empty() || phase_ == Phase::kUntagged) held_ += byte;
  } else {
    give(held_);
    held_.clear();
    give({&byte, 1});
  }
}

void ReasoningSplitter::close_reasoning() {
  if (phase_ == Phase::kUntagged) {
    delta_.was_reasoning = answer_.size() > delta_.answer.size();
    std::swap(reasoning_, answer_);
    std::swap(delta_.reasoning, delta_.answer);
  }
  held_.clear();
  tag_matched_ = 0;
  phase_ = Phase::kBehindReasoning;
}

void ReasoningSplitter::give(std::string_view text) {
  const bool is_reasoning = phase_ == Phase::kReasoning;
  (is_reasoning ? reasoning_ : answer_) += text;
  (is_reasoning ? delta_.reasoning : delta_.answer) += text;
}

SplitText split_reasoning(std::string_view text, bool in_reasoning) {
  ReasoningSplitter splitter(in_reasoning);
  splitter.push(text);
  splitter.finish();
  return {.reasoning = splitter.reasoning(), .answer = splitter.answer(), .unfinished = splitter.unfinished()};
}

}  // namespace minitorch::models
