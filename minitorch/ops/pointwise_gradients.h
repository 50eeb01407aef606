// The derivatives of the pointwise functions, written with plain ops so that they can be differentiated in turn.
// Private to pointwise.cpp. Where a function has no derivative: abs and relu have 0 at 0, maximum and minimum pass
// everything to `a` when both are equal.
#pragma once

#include "minitorch/core/tensor.h"

namespace minitorch::ops::gradients {

// The gradient of x from that of y = f(x). `y` is given to those that say so, and undefined for the others.
struct UnaryRule {
  Tensor (*gradient)(const Tensor& dy, const Tensor& x, const Tensor& y) = nullptr;
  bool needs_y = false;
};

// The gradients of a and b, in the shape of y = f(a, b): they are summed to the operands' shapes afterwards.
struct BinaryRule {
  using Gradient = Tensor (*)(const Tensor& dy, const Tensor& a, const Tensor& b);
  Gradient of_a = nullptr;
  Gradient of_b = nullptr;
};

// One rule per line of kernels/pointwise.def.
#define MT_UNARY(name, Functor) extern const UnaryRule name;
#define MT_BINARY(name, Functor) extern const BinaryRule name;
#define MT_COMPARE(name, Functor)
#include "kernels/pointwise.def"
#undef MT_UNARY
#undef MT_BINARY
#undef MT_COMPARE

}  // namespace minitorch::ops::gradients
