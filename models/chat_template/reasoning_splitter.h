// Splitting what a reasoning model writes, "plan</think>answer", into reasoning and answer while it streams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace minitorch::models {

// Whether a prompt ends inside the reasoning: with "<think>" and perhaps white space, as R1 templates end.
[[nodiscard]] bool ends_in_reasoning(std::string_view prompt_text);

// Text before the first "</think>" is reasoning, with or without "<think>" at its beginning; what follows is the
// answer, whatever it contains. White space around the reasoning and before the answer belongs to neither. White space
// means the six characters of ASCII.
//
// Without an opening tag, in the prompt or the output, text counts as answer until a "</think>" shows that it was
// reasoning. So the output of a model that writes no tags is all answer.
class ReasoningSplitter {
 public:
  // What became certain: the reasoning comes before the answer. Never holds a part of a tag. All deltas together are
  // reasoning() and answer(), where `was_reasoning` moves the answer given before it into the reasoning.
  struct Delta {
    std::string reasoning = {};
    std::string answer = {};
    bool was_reasoning = false;  // the answer in earlier deltas turned out to be the beginning of the reasoning
  };

  // `in_reasoning`: ends_in_reasoning() of the prompt.
  explicit ReasoningSplitter(bool in_reasoning) : in_reasoning_(in_reasoning) {}

  // Takes the next piece of output, of any length. The result is valid until the next call.
  const Delta& push(std::string_view text);
  // Ends the text: gives what was held back because it might have become a tag. Nothing may be pushed after it.
  const Delta& finish();

  // What is certain so far; everything after finish().
  [[nodiscard]] const std::string& reasoning() const { return reasoning_; }
  [[nodiscard]] const std::string& answer() const { return answer_; }
  // The text, as far as it came, ends inside the reasoning: its answer is missing.
  [[nodiscard]] bool unfinished() const {
    return phase_ == Phase::kReasoning || (phase_ == Phase::kBeginning && in_reasoning_);
  }

 private:
  enum class Phase : std::uint8_t {
    kBeginning,        // before any text
    kReasoning,        // by the prompt or an opening tag
    kUntagged,         // answer, unless a closing tag comes
    kBehindReasoning,  // white space in front of the answer
    kAnswer,
  };

  void begin_delta();
  void put(char byte);
  void put_at_beginning(char byte);
  void put_before_closing_tag(char byte);
  void begin_text();
  void close_reasoning();
  void give(std::string_view text);

  bool in_reasoning_;
  bool finished_ = false;
  Phase phase_ = Phase::kBeginning;
  std::string held_;             // white space, then the beginning of a tag
  std::size_t tag_matched_ = 0;  // bytes of the closing tag at the end of held_
  std::string reasoning_;
  std::string answer_;
  Delta delta_;
};

struct SplitText {
  std::string reasoning = {};
  std::string answer = {};
  bool unfinished = false;
};

// The same for complete output.
[[nodiscard]] SplitText split_reasoning(std::string_view text, bool in_reasoning);

}  // namespace minitorch::models
