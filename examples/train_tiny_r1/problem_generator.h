// Arithmetic word problems for training and testing the tiny pair. Problem `index` of a seed is a pure function of
// (seed, index, options), so that training may resume anywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "examples/train_tiny_r1/equations.h"
#include "models/chat_template/chat_template.h"

namespace minitorch::train_tiny_r1 {

struct ProblemOptions {
  // true: all sums and differences are held-out ones (is_held_out), for tests; false: none is, for training.
  bool held_out = false;
  int min_steps = 1;
  int max_steps = 4;  // of 1 to 4 steps, 42% have one, 42% two, 10% three and 6% four; fewer choices share alike
};

struct Problem {
  std::string question;
  std::string reasoning;        // one equation a line, without a line break at the end
  std::string answer_sentence;  // with the result as \boxed{...}
  std::int64_t result = 0;      // of the last equation
  int steps = 0;
  std::vector<Equation> equations;
};

// Throws Error unless 1 <= min_steps <= max_steps <= 4 and index >= 0.
[[nodiscard]] Problem make_problem(std::uint64_t seed, std::int64_t index, const ProblemOptions& options);

// What the model is to write after the generation prompt, which ends with "<think>\n", without the end token.
[[nodiscard]] std::string completion_text(const Problem& problem);
// The question as a user turn and the whole answer as the assistant's; rendered, a training text.
[[nodiscard]] std::vector<models::ChatMessage> conversation(const Problem& problem);

// The number in the last complete \boxed{...} of a text; none when there is no such box or it holds anything else.
[[nodiscard]] std::optional<std::int64_t> boxed_result(std::string_view text);

}  // namespace minitorch::train_tiny_r1
