// distribution(): the only place where sampling settings act on logits, for target and draft alike.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace minitorch::spec {

struct SamplingOptions {
  double temperature = 0.0;  // 0: the argmax, lowest id first
  std::uint64_t seed = 0;
};

// Throws Error when the temperature is not supported.
void check_supported(const SamplingOptions& options);

// A probability row on its kept support: ids ascending, probabilities in f64 summing to 1.
struct Distribution {
  std::vector<std::int32_t> ids;
  std::vector<double> probabilities;
};

// The distribution plain sampling draws from. Temperature 0 gives one id with probability 1.
// Throws Error when a logit is NaN, all are -inf, or the temperature is not supported.
[[nodiscard]] Distribution distribution(std::span<const float> logits, const SamplingOptions& options);

}  // namespace minitorch::spec
