// distribution(): the only place where sampling settings act on logits, for target and draft alike.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace minitorch::spec {

// In the order in which they act. All but the temperature have a value that switches them off.
struct SamplingOptions {
  double temperature = 0.0;  // at least 0; logits are divided by it. 0: the argmax, lowest id first
  std::int32_t top_k = 0;    // keep the k most probable ids, of equal ones the lowest; 0: all
  double top_p = 1.0;        // 0 to 1: keep the fewest most probable ids whose sum reaches it, at least one; 1: all
  double min_p = 0.0;        // 0 to 1: keep ids at least min_p times as probable as the most probable one; 0: all
  std::uint64_t seed = 0;
};

// Throws Error that names the option, what it takes and what came.
void check_sampling(const SamplingOptions& options);

struct TokenProbability {
  std::int32_t id = 0;
  double probability = 0.0;
};

// A probability row on its kept support: ids ascending, probabilities in f64 that sum to 1, none of them 0 unless a
// verifier has taken it away.
struct Distribution {
  std::vector<TokenProbability> tokens;

  // 0 for an id outside the support.
  [[nodiscard]] double probability_of(std::int32_t id) const;
  // Makes the probabilities sum to 1. False, and nothing is changed, when their sum is 0.
  bool normalise();
};

// Puts into `row` the distribution plain sampling draws from. Temperature 0 gives one id with probability 1. `row`
// brings its memory along from call to call.
// Throws Error when a logit is NaN or +inf, all are -inf, or an option is out of range.
void distribution(std::span<const float> logits, const SamplingOptions& options, Distribution& row);
[[nodiscard]] Distribution distribution(std::span<const float> logits, const SamplingOptions& options);

}  // namespace minitorch::spec
