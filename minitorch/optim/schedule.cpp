// Gradient clipping and the learning-rate schedule.
#include <algorithm>  // std::min
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "minitorch/base/check.h"
#include "minitorch/core/execution_scope.h"
#include "minitorch/optim/adamw.h"

namespace minitorch::optim {
namespace {

// Eight partial sums, element i in sum i mod 8: one sum alone would wait for its own last addition.
template <typename T>
double sum_of_squares(std::span<const T> values) {
  constexpr std::size_t kSums = 8;
  std::array<double, kSums> sums{};
  for (std::size_t begin = 0; begin < values.size(); begin += kSums) {
    const std::size_t count = std::min(kSums, values.size() - begin);
    for (std::size_t i = 0; i < count; ++i) {
      const auto value = static_cast<double>(values[begin + i]);
      sums[i] += value * value;
    }
  }
  double total = 0.0;
  for (const double sum : sums) total += sum;
  return total;
}

double sum_of_squares(const Tensor& gradient) {
  const NoGradGuard unrecorded;
  const Tensor flat = gradient.contiguous();
  const auto count = static_cast<std::size_t>(flat.numel());
  if (flat.dtype() == DType::kF64) return sum_of_squares(std::span<const double>(flat.data<double>(), count));
  return sum_of_squares(std::span<const float>(flat.data<float>(), count));
}

}  // namespace

double grad_norm(std::span<const Tensor> parameters) {
  double total = 0.0;
  for (const Tensor& parameter : parameters) {
    if (const Tensor gradient = parameter.grad(); gradient.defined()) total += sum_of_squares(gradient);
  }
  return std::sqrt(total);
}

double clip_factor(double norm, double max_norm) {
  MT_CHECK(std::isfinite(norm) && norm >= 0, "clip_factor: expected a finite norm, got {}", norm);
  MT_CHECK(max_norm > 0, "clip_factor: expected a largest norm above 0, got {}", max_norm);
  return norm <= max_norm ? 1.0 : max_norm / norm;
}

double CosineSchedule::at(std::int64_t step) const {
  MT_CHECK(warmup >= 0 && total >= warmup, "schedule: expected 0 <= warmup <= total, got {} and {}", warmup, total);
  MT_CHECK(step >= 0, "schedule: expected a step of at least 0, got {}", step);
  if (step < warmup) return peak * static_cast<double>(step) / static_cast<double>(warmup);
  if (step >= total) return floor;
  const double progress = static_cast<double>(step - warmup) / static_cast<double>(total - warmup);
  return floor + (peak - floor) * 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
}

}  // namespace minitorch::optim
