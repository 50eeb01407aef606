// Reductions over dimensions. Negative dims count from the end; an empty list of dims stands for all.
#pragma once

#include <initializer_list>
#include <span>

#include "minitorch/core/tensor.h"

namespace minitorch::ops {

// Reduced dimensions vanish, or stay with extent 1 under `keepdim`. Differentiable.
[[nodiscard]] Tensor sum(const Tensor& x, std::span<const int> dims, bool keepdim = false);
[[nodiscard]] Tensor mean(const Tensor& x, std::span<const int> dims, bool keepdim = false);
[[nodiscard]] Tensor sum(const Tensor& x, std::initializer_list<int> dims = {}, bool keepdim = false);
[[nodiscard]] Tensor mean(const Tensor& x, std::initializer_list<int> dims = {}, bool keepdim = false);
// Of one dimension. The gradient goes to the first of equal elements.
[[nodiscard]] Tensor max(const Tensor& x, int dim, bool keepdim = false);
[[nodiscard]] Tensor min(const Tensor& x, int dim, bool keepdim = false);
// Places along one dimension, i64; the first of equal elements. No gradient.
[[nodiscard]] Tensor argmax(const Tensor& x, int dim, bool keepdim = false);
[[nodiscard]] Tensor argmin(const Tensor& x, int dim, bool keepdim = false);

// Undoes broadcasting: sums x over the dimensions that `shape`, which broadcasts to x's, lacks or has with extent 1.
[[nodiscard]] Tensor sum_to(const Tensor& x, const Shape& shape);

}  // namespace minitorch::ops
