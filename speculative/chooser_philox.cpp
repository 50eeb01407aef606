// PhiloxChooser: random decisions of one round.
#include "speculative/chooser_philox.h"

#include <limits>

#include "minitorch/base/check.h"

namespace minitorch::spec {

PhiloxChooser::PhiloxChooser(std::uint64_t seed, std::uint32_t sample_index)
    : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}, sample_index_(sample_index) {}

void PhiloxChooser::begin_round(std::int64_t committed_tokens) {
  MT_CHECK(committed_tokens >= 0 && committed_tokens <= std::numeric_limits<std::uint32_t>::max(),
           "chooser: expected 0 to 2^32 - 1 committed tokens, got {}", committed_tokens);
  committed_tokens_ = static_cast<std::uint32_t>(committed_tokens);
  index_ = 0;
}

bool PhiloxChooser::accept(double numerator, double denominator) {
  // u * denominator < numerator needs no division and accepts always when numerator >= denominator, as u < 1.
  return uniform(Purpose::kAccept) * denominator < numerator;
}

std::int32_t PhiloxChooser::draw(std::span<const double> weights) {
  double total = 0.0;
  std::size_t last = weights.size();  // the last index that can be drawn
  for (std::size_t i = 0; i < weights.size(); ++i) {
    MT_CHECK(weights[i] >= 0.0, "draw: weight {} is expected to be at least 0, got {}", i, weights[i]);
    total += weights[i];
    if (weights[i] > 0.0) last = i;
  }
  MT_CHECK(total > 0.0 && total <= std::numeric_limits<double>::max(),
           "draw: expected a positive finite sum of weights, got {}", total);
  const double target = uniform(Purpose::kDraw) * total;
  double sum = 0.0;
  for (std::size_t i = 0; i < last; ++i) {
    sum += weights[i];
    if (target < sum) return static_cast<std::int32_t>(i);
  }
  return static_cast<std::int32_t>(last);
}

double PhiloxChooser::uniform(Purpose purpose) {
  const PhiloxCounter words =
      philox4x32({index_++, static_cast<std::uint32_t>(purpose), committed_tokens_, sample_index_}, key_);
  return uniform53(words[0], words[1]);
}

}  // namespace minitorch::spec
