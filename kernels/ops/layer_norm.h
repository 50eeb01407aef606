// layer_norm: y = (x - mean) / sqrt(variance + eps) * weight + bias, row by row (Ba et al. 2016), and its backward.
#pragma once

#include <cstdint>

namespace minitorch::kernels {

// x, y [M, C] f32, weight and bias [C] f32 (bias may be null); variance is the mean of (x - mean)^2. y may be x.
// mean and inverse_deviation [M] are kept for the backward pass (null: not wanted).
// Numerics: two passes, each with 16 f32 partial sums added pairwise.
// Tolerance against `reference` (double): 1e-5 * the row's largest |y - bias|.
struct LayerNormArgs {
  const float* x = nullptr;
  std::int64_t x_stride = 0;
  const float* weight = nullptr;
  const float* bias = nullptr;
  float* y = nullptr;
  std::int64_t y_stride = 0;
  float* mean = nullptr;
  float* inverse_deviation = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  float eps = 0.0f;
};

// dx [M, C], dweight [C], dbias [C] from dy [M, C]; null results are not computed. dweight and dbias add over the rows
// in blocks of 64 rows, block after block, whatever the threads. dx may be dy.
// Tolerance against `reference`: as in RmsNormBackwardArgs, with the inverse deviation for r.
struct LayerNormBackwardArgs {
  const float* x = nullptr;
  std::int64_t x_stride = 0;
  const float* weight = nullptr;
  const float* mean = nullptr;
  const float* inverse_deviation = nullptr;
  const float* dy = nullptr;
  std::int64_t dy_stride = 0;
  float* dx = nullptr;
  std::int64_t dx_stride = 0;
  float* dweight = nullptr;
  float* dbias = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};

}  // namespace minitorch::kernels
