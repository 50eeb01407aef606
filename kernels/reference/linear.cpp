// Reference linear: one double sum per output.
#include <algorithm>
#include <cmath>

#include "kernels/reference/elements.h"
#include "kernels/reference/reference.h"

namespace minitorch::kernels::reference {
namespace {

void add_and_store(const LinearArgs& args, std::int64_t m, std::int64_t n, double sum) {
  if (args.bias != nullptr) sum += args.bias[n];
  if (args.residual != nullptr) sum += args.residual[m * args.residual_stride + n];
  args.y[m * args.y_stride + n] = static_cast<float>(sum);
}

// One group of a row of x as the contract quantises it.
struct QuantisedGroup {
  float scale;
  std::int32_t quants[kGroupCols];

  QuantisedGroup(const float* x, std::int64_t count) : scale(0.0f), quants{} {
    float largest = 0.0f;
    for (std::int64_t i = 0; i < count; ++i) {
      if (!std::isfinite(x[i])) scale = std::nanf("");
      largest = std::max(largest, std::abs(x[i]));
    }
    if (std::isnan(scale) || largest < kInt8Smallest) return;
    scale = largest / 127.0f;
    const float inverse = 127.0f / largest;
    for (std::int64_t i = 0; i < count; ++i) quants[i] = static_cast<std::int32_t>(std::nearbyint(x[i] * inverse));
  }
};

// Several outputs at a time, so that a group is quantised once for all of them.
void linear_quantised(const LinearArgs& args) {
  constexpr std::int64_t kOutputs = 256;
  const PackedView& weight = args.weight;
  for (std::int64_t m = 0; m < args.rows; ++m) {
    for (std::int64_t first = 0; first < weight.rows; first += kOutputs) {
      const std::int64_t count = std::min(kOutputs, weight.rows - first);
      double sums[kOutputs] = {};
      for (std::int64_t begin = 0; begin < weight.cols; begin += kGroupCols) {
        const std::int64_t end = std::min(begin + kGroupCols, weight.cols);
        const QuantisedGroup group(args.x + m * args.x_stride + begin, end - begin);
        for (std::int64_t n = 0; n < count; ++n) {
          std::int32_t dot = 0;
          for (std::int64_t k = begin; k < end; ++k) {
            dot += group.quants[k - begin] * quant_at(weight, first + n, k);
          }
          const float scale = group.scale * scale_at(weight, first + n, begin / kGroupCols);
          sums[n] += static_cast<double>(dot) * static_cast<double>(scale);
        }
      }
      for (std::int64_t n = 0; n < count; ++n) add_and_store(args, m, first + n, sums[n]);
    }
  }
}

}  // namespace

void linear(const Context&, const LinearArgs& args) {
  if (is_quantised(args.weight.format)) return linear_quantised(args);
  for (std::int64_t m = 0; m < args.rows; ++m) {
    const float* x = args.x + m * args.x_stride;
    for (std::int64_t n = 0; n < args.weight.rows; ++n) {
      double sum = 0.0;
      for (std::int64_t k = 0; k < args.weight.cols; ++k)
        sum += static_cast<double>(x[k]) * weight_at(args.weight, n, k);
      add_and_store(args, m, n, sum);
    }
  }
}

}  // namespace minitorch::kernels::reference
