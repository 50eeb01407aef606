// Matrix products of tensors.
#pragma once

#include "minitorch/core/tensor.h"

namespace minitorch::ops {

// a [..., M, K] and b [..., K, N] of dtype f32 or f64 -> [..., M, N]; leading dimensions broadcast. A vector [K] stands
// for one row of a or one column of b, and its dimension vanishes from the result. Transposed views cost no copy.
// Differentiable.
[[nodiscard]] Tensor matmul(const Tensor& a, const Tensor& b);

// x [..., K] and weight [N, K] -> x weight^T (+ bias [N]) (+ residual [..., N]) as [..., N]. Undefined ones are left
// out. Differentiable in all four.
[[nodiscard]] Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                            const Tensor& residual = {});

}  // namespace minitorch::ops
