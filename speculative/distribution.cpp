// distribution(): logits and sampling settings to probabilities.
#include "speculative/distribution.h"

#include <cmath>  // std::isnan

#include "minitorch/base/check.h"

namespace minitorch::spec {

void check_supported(const SamplingOptions& options) {
  MT_CHECK(options.temperature == 0.0, "sampling: only temperature 0 is available, got {}", options.temperature);
}

Distribution distribution(std::span<const float> logits, const SamplingOptions& options) {
  check_supported(options);
  MT_CHECK(!logits.empty(), "distribution: expected at least one logit, got none");
  std::size_t best = 0;
  for (std::size_t id = 0; id < logits.size(); ++id) {
    MT_CHECK(!std::isnan(logits[id]), "distribution: logit {} is NaN", id);
    if (logits[id] > logits[best]) best = id;  // strictly larger: ties go to the lowest id
  }
  MT_CHECK(logits[best] != -INFINITY, "distribution: all {} logits are -inf", logits.size());
  return {.ids = {static_cast<std::int32_t>(best)}, .probabilities = {1.0}};
}

}  // namespace minitorch::spec
