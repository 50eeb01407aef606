// rms_norm: y = x / sqrt(mean(x^2) + eps) * weight, row by row (Zhang & Sennrich 2019).
#pragma once

#include <cstdint>

namespace minitorch::kernels {

// x, y [M, C] f32, weight [C] f32; y may be x.
// Numerics: the sum of squares uses 16 f32 partial sums (element c belongs to sum c mod 16), added pairwise.
// Tolerance against `reference`: 4e-6 relative to the row's largest |y|.
struct RmsNormArgs {
  const float* x = nullptr;
  std::int64_t x_stride = 0;
  const float* weight = nullptr;
  float* y = nullptr;
  std::int64_t y_stride = 0;
  std::int64_t rows = 0;  // M
  std::int64_t cols = 0;  // C
  float eps = 0.0f;
};

}  // namespace minitorch::kernels
