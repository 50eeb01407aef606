// Pointwise ops with NumPy broadcasting: one function per line of kernels/pointwise.def. All are differentiable but the
// comparisons. dtype f32 or f64, the same for all operands.
#pragma once

#include "minitorch/core/tensor.h"

namespace minitorch::ops {

#define MT_UNARY(name, Functor) [[nodiscard]] Tensor name(const Tensor& x);
#define MT_BINARY(name, Functor)                               \
  [[nodiscard]] Tensor name(const Tensor& a, const Tensor& b); \
  [[nodiscard]] Tensor name(const Tensor& a, double b);        \
  [[nodiscard]] Tensor name(double a, const Tensor& b);
#define MT_COMPARE(name, Functor)                              \
  [[nodiscard]] Tensor name(const Tensor& a, const Tensor& b); \
  [[nodiscard]] Tensor name(const Tensor& a, double b);
#include "kernels/pointwise.def"
#undef MT_UNARY
#undef MT_BINARY
#undef MT_COMPARE

// condition (bool) ? a : b, all broadcast together.
[[nodiscard]] Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
// x with `value` where `mask` (bool, broadcast to x) is true.
[[nodiscard]] Tensor masked_fill(const Tensor& x, const Tensor& mask, double value);

// sum += addend, in sum's memory; addend broadcasts to it. Not recorded: throws Error when either requires a gradient
// and gradients are on. Elements that an op has saved for its backward pass must not be changed; nothing notices it.
void add_(const Tensor& sum, const Tensor& addend);
// x *= factor in x's memory; likewise.
void mul_(const Tensor& x, double factor);

}  // namespace minitorch::ops
