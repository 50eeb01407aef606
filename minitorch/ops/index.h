// Ops that pick, place and join elements.
#pragma once

#include <cstdint>
#include <span>

#include "minitorch/core/tensor.h"

namespace minitorch::ops {

// Rows ids [M] of table [R, C] (f32 or f64) -> [M, C]. The gradient adds up where ids repeat. Ids outside [0, R) are an
// error that names the first.
[[nodiscard]] Tensor embedding(const Tensor& table, std::span<const std::int32_t> ids);

// x and index (i64) of equal shape but for `dim`: out[.., i, ..] = x[.., index[.., i, ..], ..]. Differentiable in x.
[[nodiscard]] Tensor gather(const Tensor& x, int dim, const Tensor& index);
// Zeros of `extent` along `dim`, plus x[.., i, ..] at index[.., i, ..]: what gather's gradient is. Differentiable in x.
[[nodiscard]] Tensor scatter_add(const Tensor& x, int dim, const Tensor& index, std::int64_t extent);

// Tensors of equal shape but for `dim`, one behind the other. Differentiable.
[[nodiscard]] Tensor cat(std::span<const Tensor> tensors, int dim);
// Tensors of equal shape along a new dimension. Differentiable.
[[nodiscard]] Tensor stack(std::span<const Tensor> tensors, int dim);

// Zeros of `shape` with x in the slice that Tensor::slice(dim, bounds) would show: what slice's gradient is.
// Differentiable.
[[nodiscard]] Tensor slice_backward(const Tensor& x, const Shape& shape, int dim, const Slice& bounds);

}  // namespace minitorch::ops
