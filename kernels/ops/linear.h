// linear: y = x W^T (+ bias) (+ residual), the one matrix product of inference.
#pragma once

#include <cstdint>

#include "kernels/packed_matrix.h"

namespace minitorch::kernels {

// Shapes: x [M, K] f32, weight [N, K] packed, y [M, N] f32; rows may have a stride larger than their width.
// Aliasing: y may be `residual`; y overlaps nothing else.
// Numerics: every output has one f32 accumulator that walks k = 0 .. K-1 in order (exactness rule E1), then adds bias,
// then residual. bf16 weights are widened exactly, x is not rounded.
// Tolerance against `reference` (double accumulation): |error| <= 2^-24 * (K + 2) * (sum_k |x_k w_k| + |bias| +
// |residual|).
struct LinearArgs {
  const float* x = nullptr;
  std::int64_t x_stride = 0;  // elements between rows of x
  std::int64_t rows = 0;      // M
  PackedView weight;
  const float* bias = nullptr;      // [N] or null
  const float* residual = nullptr;  // [M, N] or null
  std::int64_t residual_stride = 0;
  float* y = nullptr;
  std::int64_t y_stride = 0;
};

}  // namespace minitorch::kernels
