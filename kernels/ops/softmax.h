// softmax and log_softmax of rows, with their backward.
#pragma once

#include <cstdint>

namespace minitorch::kernels {

// x, y [M, C] f32; y may be x. y = exp(x - max) / sum exp(x - max), or with `log` its logarithm x - max - ln sum.
// A row that holds a NaN or +inf gives NaN; a row of -inf gives NaN.
// Numerics: 16 f32 partial sums (element c belongs to sum c mod 16), added pairwise.
// Tolerance against `reference` (double): softmax 1e-6 * (2 + C * 2^-20) relative + 1e-37; log 4e-6 * max(1, |y|).
struct SoftmaxArgs {
  const float* x = nullptr;
  std::int64_t x_stride = 0;
  float* y = nullptr;
  std::int64_t y_stride = 0;
  std::int64_t rows = 0;  // M
  std::int64_t cols = 0;  // C
  bool log = false;
};

// dx from dy and the result y: softmax dx = y (dy - sum(dy y)); log dx = dy - exp(y) sum(dy). dx may be dy.
// Tolerance against `reference`: 1e-5 * max |dy|.
struct SoftmaxBackwardArgs {
  const float* y = nullptr;
  std::int64_t y_stride = 0;
  const float* dy = nullptr;
  std::int64_t dy_stride = 0;
  float* dx = nullptr;
  std::int64_t dx_stride = 0;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  bool log = false;
};

}  // namespace minitorch::kernels
