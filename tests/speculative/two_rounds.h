// The exactness proof: the distribution of two consecutive rounds of the production session, by visiting every outcome
// of their random decisions, against plain sampling.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "speculative/session.h"
#include "tests/support/scripted_model.h"

namespace minitorch::test {

// Probabilities [V][V] of the next token behind each token: an order-1 model. A probability may be 0.
using Table = std::vector<std::vector<double>>;

// Its logits behind a prefix are ln p of the last token's row. Behind a single token the next one is 0 with certainty:
// then the pass over the prompt has one outcome and all others belong to the two rounds.
[[nodiscard]] ScriptedModel model_of(const Table& table);

// A table of random rows; about one probability in five is 0.
[[nodiscard]] Table random_table(std::int32_t vocab_size, std::uint64_t seed);

struct TwoRounds {
  Table target;
  std::int32_t gamma = 1;
  spec::SamplingOptions sampling = {.temperature = 1.0};
};

struct Distance {
  double total_variation = 0.0;  // between texts that begin with two rounds and go on plainly, and plain texts
  double accepted = 0.0;         // mean of accepted draft tokens in two rounds
  double weight = 0.0;           // of all outcomes: 1
  std::int64_t outcomes = 0;
};

[[nodiscard]] Distance distance_of(const TwoRounds& rounds, spec::Drafter& drafter, const spec::Verifier& verifier,
                                   models::CausalLM& target);

}  // namespace minitorch::test
