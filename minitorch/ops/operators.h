// Arithmetic with + - * / on tensors and numbers. Comparisons stay named functions: `a == b` would read as a question
// about the tensors themselves.
#pragma once

#include "minitorch/ops/pointwise.h"

namespace minitorch {

// clang-format off
#define MT_OPERATOR(symbol, name)                                                                             \
  [[nodiscard]] inline Tensor operator symbol(const Tensor& a, const Tensor& b) { return ops::name(a, b); }   \
  [[nodiscard]] inline Tensor operator symbol(const Tensor& a, double b) { return ops::name(a, b); }          \
  [[nodiscard]] inline Tensor operator symbol(double a, const Tensor& b) { return ops::name(a, b); }
// clang-format on
MT_OPERATOR(+, add)
MT_OPERATOR(-, sub)
MT_OPERATOR(*, mul)
MT_OPERATOR(/, div)
#undef MT_OPERATOR
[[nodiscard]] inline Tensor operator-(const Tensor& x) { return ops::neg(x); }

}  // namespace minitorch
