// linear: y = x W^T (+ bias) (+ residual), the one matrix product of inference.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/packed_matrix.h"

namespace minitorch::kernels {

// Shapes: x [M, K] f32, weight [N, K] packed, y [M, N] f32; rows may have a stride larger than their width.
// Aliasing: y may be `residual`; y overlaps nothing else.
// Numerics, f32 and bf16 weights: every output has one f32 accumulator that walks k = 0 .. K-1 in order (exactness rule
// E1), then adds bias, then residual. bf16 weights are widened exactly, x is not rounded.
// Tolerance against `reference` (double accumulation): |error| <= 2^-24 * (K + 2) * (sum_k |x_k w_k| + |bias| +
// |residual|).
//
// int8 and int4 weights: x is quantised to int8 too, every row and group of 32 k by itself (the same groups as the
// weights).
//   sx = max|x| / 127, qx = x * (127 / max|x|) rounded to nearest, ties to even, all in f32; both are 0 where max|x| is
//   below kInt8Smallest.
//   dot = sum_k qx * q is exact; acc = fma(f32(dot), f32(sx * scale), acc) for the groups in ascending order.
// So all CPU tables give the same bits. A group that holds a NaN or an infinity has qx = 0 and sx = NaN: every output
// of that row becomes NaN. Tolerance against `reference` (same quantisation and scales, double accumulation): |error|
// <= 2^-24 * (groups + 3) * (sum_groups |dot * sx * scale| + |bias| + |residual|). Scratch: linear_scratch_bytes.
inline constexpr float kInt8Smallest = 0x1p-100f;

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

// Scratch memory of one call: the quantised or packed rows of x, of a limited number of rows at a time.
[[nodiscard]] std::size_t linear_scratch_bytes(const LinearArgs& args, int num_threads);

}  // namespace minitorch::kernels
