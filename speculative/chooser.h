// Chooser: the only source of random decisions of verifiers and sampled drafters. Production backs it with Philox, the
// exactness proof with an enumerator that visits every outcome with its weight.
#pragma once

#include <cstdint>
#include <span>

namespace minitorch::spec {

class Chooser {
 public:
  virtual ~Chooser() = default;
  // True with probability min(1, numerator / denominator).
  [[nodiscard]] virtual bool accept(double numerator, double denominator) = 0;
  // Index i with probability weights[i] / sum of weights.
  [[nodiscard]] virtual std::int32_t draw(std::span<const double> weights) = 0;
};

}  // namespace minitorch::spec
