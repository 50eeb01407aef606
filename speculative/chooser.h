// Chooser: the only source of random decisions of verifiers and sampled drafters. Production backs it with Philox, the
// exactness proof with an enumerator that visits every outcome with its weight.
#pragma once

#include <cstdint>
#include <span>

#include "speculative/distribution.h"

namespace minitorch::spec {

// What a number decides; part of its key.
enum class Purpose : std::uint32_t {
  kAccept = 1,  // whether a node stands
  kDraft = 2,   // which token a node of the draft carries
  kNext = 3,    // the target's own token behind a node
};

class Chooser {
 public:
  virtual ~Chooser() = default;

  // Begins a round, or the pass over a prompt, behind `committed` tokens. A number is keyed by the round it is looked
  // at in, its node and its purpose: none is looked at in two rounds, and rejected work consumes nothing
  // (ARCHITECTURE.md, E6).
  void begin_round(std::int64_t committed) { committed_ = committed; }
  [[nodiscard]] std::int64_t committed() const { return committed_; }

  // True with probability min(1, numerator / denominator).
  [[nodiscard]] virtual bool accept(std::int32_t node, double numerator, double denominator) = 0;
  // Index i with probability weights[i].probability / their sum. The weights are at least 0, their sum is positive.
  [[nodiscard]] virtual std::size_t draw(std::int32_t node, Purpose purpose,
                                         std::span<const TokenProbability> weights) = 0;
  // Plain sampling: an index drawn from `row` by the noise of a position of the text, whatever the round. Rows of
  // different models that share the noise give the same token often: that couples draft and target.
  [[nodiscard]] virtual std::size_t sample(std::int64_t position, std::span<const TokenProbability> row) = 0;

 private:
  std::int64_t committed_ = 0;
};

}  // namespace minitorch::spec
