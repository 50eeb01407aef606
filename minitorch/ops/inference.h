// Ops that only inference uses; those it shares with training are in fused.h. Each checks shapes and dtypes, allocates
// its result from the current ExecutionScope, and calls the kernel of the current table; the numerics are those of the
// contract in kernels/ops/. None has a gradient: they refuse tensors that would lose one.
#pragma once

#include <cstdint>
#include <span>

#include "minitorch/core/packed_matrix.h"
#include "minitorch/core/tensor.h"
#include "minitorch/ops/fused.h"  // the other ops of a decoder

namespace minitorch::ops {

// x [M, K] f32 -> x W^T (+ bias [N]) (+ residual [M, N]) as [M, N]. An undefined bias or residual is left out.
[[nodiscard]] Tensor linear(const Tensor& x, const PackedMatrix& weight, const Tensor& bias = {},
                            const Tensor& residual = {});

// ids [M] in [0, table.rows()) -> [M, C] f32.
[[nodiscard]] Tensor gather_rows(const PackedMatrix& table, std::span<const std::int32_t> ids);

// In place on x [M, heads, D] (rows may be strided); cos, sin [M, D/2].
void rope_(const Tensor& x, const Tensor& cos, const Tensor& sin);

// x [M, V] -> index of each row's largest element among its first `cols`; kernels::kArgmaxNan where the row holds a
// NaN.
void argmax(const Tensor& x, std::int64_t cols, std::span<std::int32_t> out);

}  // namespace minitorch::ops
