// What a trained model can do: problems solved greedily, and how many draft tokens the target accepts.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "examples/train_tiny_r1/problem_generator.h"
#include "models/causal_lm.h"
#include "models/tokenizer/tokenizer.h"

namespace minitorch::train_tiny_r1 {

// A question and its right answer.
struct Question {
  std::string text;
  std::int64_t result = 0;
  int steps = 0;
  bool has_product = false;   // some equation multiplies or divides
  bool product_seen = false;  // all of these occur in training
};

// The equations of the first problems_per_step problems of each of `steps` training batches.
[[nodiscard]] EquationSet training_equations(std::uint64_t seed, std::int64_t steps, std::int64_t problems_per_step);

// `count` problems of 1 to max_steps steps whose sums and differences never occur in training.
[[nodiscard]] std::vector<Question> held_out_questions(std::uint64_t seed, std::int64_t count, int max_steps,
                                                       const EquationSet& seen);

struct Tally {
  std::int64_t right = 0;
  std::int64_t total = 0;
  void add(bool is_right) {
    right += is_right ? 1 : 0;
    ++total;
  }
};

struct Accuracy {
  Tally all;
  std::array<Tally, 5> by_steps;  // by number of steps; 0 where it is not known
  Tally products_seen, products_unseen;
};

// Answers all questions greedily, many sequences in one batch, at most `max_new_tokens` each. A question counts as
// solved when the number in \boxed{} is right. `show` (may be empty) receives every text.
using Show = std::function<void(const Question& question, const std::string& text, bool is_right)>;
[[nodiscard]] Accuracy measure_accuracy(models::CausalLM& model, const models::Tokenizer& tokenizer,
                                        const std::vector<Question>& questions, std::int32_t max_new_tokens,
                                        const Show& show = {});

struct Acceptance {
  std::int64_t proposed = 0;
  std::int64_t accepted = 0;
  std::int64_t tokens = 0;
  std::int64_t target_passes = 0;
  std::int64_t differences = 0;  // texts that are not those of plain decoding
};

// Decodes the questions speculatively with the draft model and compares with plain decoding.
[[nodiscard]] Acceptance measure_acceptance(models::CausalLM& target, models::CausalLM& draft,
                                            const models::Tokenizer& tokenizer, const std::vector<Question>& questions,
                                            std::int32_t gamma, std::int32_t max_new_tokens);

}  // namespace minitorch::train_tiny_r1
