// The derivative of every pointwise function.
#include "minitorch/ops/pointwise_gradients.h"

#include <numbers>

#include "minitorch/ops/op_support.h"
#include "minitorch/ops/operators.h"
#include "minitorch/ops/pointwise.h"

namespace minitorch::ops {
namespace {

constexpr double kInverseSqrt2Pi = std::numbers::inv_sqrtpi / std::numbers::sqrt2;

Tensor zero_like(const Tensor& x) { return scalar(0.0, x.dtype()); }

// d silu(x) / dx = s (1 + x (1 - s)) with s = sigmoid(x).
Tensor silu_slope(const Tensor& x) {
  const Tensor s = sigmoid(x);
  return s * (1.0 + x * (1.0 - s));
}

// gelu(x) = x Phi(x) with the normal distribution function Phi.
Tensor gelu_slope(const Tensor& x) {
  const Tensor distribution = 0.5 * (1.0 + erf(x * (1.0 / std::numbers::sqrt2)));
  const Tensor density = kInverseSqrt2Pi * exp(-0.5 * square(x));
  return distribution + x * density;
}

// gelu_tanh(x) = x sigmoid(2 u) with u = sqrt(2 / pi) (x + 0.044715 x^3).
Tensor gelu_tanh_slope(const Tensor& x) {
  constexpr double kCubic = 0.044715;
  const Tensor squared = square(x);
  const Tensor s = sigmoid(4.0 * kInverseSqrt2Pi * x * (1.0 + kCubic * squared));
  const Tensor inner_slope = 4.0 * kInverseSqrt2Pi * (1.0 + 3.0 * kCubic * squared);
  return s + x * s * (1.0 - s) * inner_slope;
}

// b a^(b - 1), and 0 where b is 0 even for a = 0.
Tensor pow_slope_of_a(const Tensor& a, const Tensor& b) {
  return where(eq(b, 0.0), zero_like(a), b * ops::pow(a, b - 1.0));
}

// a^b ln a, and 0 where a is 0: there the power does not depend on a positive b.
Tensor pow_slope_of_b(const Tensor& a, const Tensor& b) {
  const Tensor is_zero = eq(a, 0.0);
  const Tensor safe = masked_fill(a, is_zero, 1.0);
  return where(is_zero, zero_like(a), ops::pow(a, b) * ops::log(safe));
}

}  // namespace

namespace gradients {

// MT_RULE(name, dx of dy and x) and MT_RULE_Y(name, dx of dy and y).
#define MT_RULE(name, ...)                                                                                           \
  constinit const UnaryRule name{.gradient = []([[maybe_unused]] const Tensor& dy, [[maybe_unused]] const Tensor& x, \
                                                const Tensor&) -> Tensor { return __VA_ARGS__; }};
#define MT_RULE_Y(name, ...)                                                                              \
  constinit const UnaryRule name{                                                                         \
      .gradient = [](const Tensor& dy, const Tensor&, const Tensor& y) -> Tensor { return __VA_ARGS__; }, \
      .needs_y = true};

MT_RULE(neg, -dy)
MT_RULE(abs, where(lt(x, 0.0), -dy, where(gt(x, 0.0), dy, zero_like(dy))))
MT_RULE_Y(reciprocal, -(dy* ops::square(y)))
MT_RULE(square, dy*(2.0 * x))
MT_RULE_Y(sqrt, 0.5 * dy / y)
MT_RULE_Y(rsqrt, -0.5 * dy * y * ops::square(y))
MT_RULE_Y(exp, dy* y)
MT_RULE(log, dy / x)
MT_RULE(sin, dy* ops::cos(x))
MT_RULE(cos, -(dy* ops::sin(x)))
MT_RULE_Y(tanh, dy*(1.0 - ops::square(y)))
MT_RULE(erf, dy*(2.0 * std::numbers::inv_sqrtpi * ops::exp(-ops::square(x))))
MT_RULE_Y(sigmoid, dy*(y*(1.0 - y)))
MT_RULE(relu, where(gt(x, 0.0), dy, zero_like(dy)))
MT_RULE(silu, dy* silu_slope(x))
MT_RULE(gelu, dy* gelu_slope(x))
MT_RULE(gelu_tanh, dy* gelu_tanh_slope(x))
#undef MT_RULE
#undef MT_RULE_Y

// MT_RULE2(name, da, db), each of dy, a and b.
#define MT_OF(...)                                                        \
  []([[maybe_unused]] const Tensor& dy, [[maybe_unused]] const Tensor& a, \
     [[maybe_unused]] const Tensor& b) -> Tensor { return __VA_ARGS__; }
#define MT_RULE2(name, of_a_expression, of_b_expression) \
  constinit const BinaryRule name{.of_a = MT_OF(of_a_expression), .of_b = MT_OF(of_b_expression)};

MT_RULE2(add, dy, dy)
MT_RULE2(sub, dy, -dy)
MT_RULE2(mul, dy* b, dy* a)
MT_RULE2(div, dy / b, -(dy* a / ops::square(b)))
MT_RULE2(pow, dy* pow_slope_of_a(a, b), dy* pow_slope_of_b(a, b))
MT_RULE2(maximum, where(ge(a, b), dy, zero_like(dy)), where(ge(a, b), zero_like(dy), dy))
MT_RULE2(minimum, where(le(a, b), dy, zero_like(dy)), where(le(a, b), zero_like(dy), dy))
#undef MT_RULE2
#undef MT_OF

}  // namespace gradients
}  // namespace minitorch::ops
