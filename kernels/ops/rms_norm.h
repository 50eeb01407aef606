// rms_norm and its backward: y = x / sqrt(mean(x^2) + eps) * weight, row by row (Zhang & Sennrich 2019).
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

// dx [M, C] and dweight [C] from dy [M, C]; null results are not computed. With r = 1 / sqrt(mean(x^2) + eps),
// computed again from x: dx = r (dy weight - x r^2 mean(dy weight x)), dweight = sum over rows of dy x r. dweight adds
// over the rows in blocks of 64 rows, block after block, whatever the threads. dx may be dy.
// Tolerance against `reference` (double): 1e-4 of the largest |value| of each result; for dx besides 1e-6 of the
// largest r |dy weight|, because in rows of one or two elements nearly all of it cancels.
struct RmsNormBackwardArgs {
  const float* x = nullptr;
  std::int64_t x_stride = 0;
  const float* weight = nullptr;
  const float* dy = nullptr;
  std::int64_t dy_stride = 0;
  float* dx = nullptr;
  std::int64_t dx_stride = 0;
  float* dweight = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  float eps = 0.0f;
};

}  // namespace minitorch::kernels
