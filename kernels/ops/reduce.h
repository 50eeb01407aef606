// reduce: sums, maxima and their places over some dimensions of a strided tensor.
#pragma once

#include <cstdint>

#include "kernels/ops/copy.h"
#include "minitorch/base/dtype.h"

namespace minitorch::kernels {

enum class ReduceOp : std::uint8_t { kSum, kMax, kMin, kArgmax, kArgmin };

// out[i...] = the reduction of x[i..., r...] over all r. The kept dimensions come first in shape and strides, the
// reduced ones behind them; out is contiguous over the kept ones. x is f32 or f64 (`dtype`); out is of `dtype`, for the
// places i64: the row-major index among the reduced dimensions, the first one where several are equal.
// An empty sum is 0; the others need at least one element. A NaN wins every maximum and minimum; its place is that of
// the first NaN.
// Numerics: an output depends on its own elements only, in an order fixed by the shape and the strides (never by
// threads). Sums use partial sums of at most 64 elements (f64: 512) in `dtype`, added pairwise, so that the error grows
// with the logarithm of the count.
// Tolerance against `reference` (wider): sums 2^-24 * (64 + log2 n) * sum |x|, f64 2^-53 * (512 + log2 n) * sum |x|;
// the others exact, but for the sign of a zero.
struct ReduceArgs {
  ReduceOp op{};
  DType dtype = DType::kF32;
  int kept_dims = 0;
  int reduced_dims = 0;
  std::int64_t shape[kMaxDims] = {};
  const void* x = nullptr;
  std::int64_t x_strides[kMaxDims] = {};
  void* out = nullptr;
};

}  // namespace minitorch::kernels
