// The functions of kernels/pointwise.def, each written once, for float and double, host and device. Special values are
// PyTorch's: relu, maximum and minimum pass a NaN on, comparisons with one are false (`ne`: true).
//
// Everything here is inlined always, so files compiled for an instruction set may use it and leave no symbol behind.
#pragma once

#include "kernels/ops/pointwise.h"

// Device code has the functions of the C library under their own names; on the host the builtins need no header.
#if defined(__CUDACC__)
#define MT_HOST_DEVICE __host__ __device__ __forceinline__
#define MT_MATH(function) ::function
#else
#define MT_HOST_DEVICE [[gnu::always_inline]] inline
#define MT_MATH(function) __builtin_##function
#endif

namespace minitorch::kernels::functors {

// One name for both types.
namespace math {
#define MT_BOTH_TYPES(name)                                          \
  MT_HOST_DEVICE float name(float x) { return MT_MATH(name##f)(x); } \
  MT_HOST_DEVICE double name(double x) { return MT_MATH(name)(x); }
MT_BOTH_TYPES(fabs)
MT_BOTH_TYPES(sqrt)
MT_BOTH_TYPES(exp)
MT_BOTH_TYPES(log)
MT_BOTH_TYPES(sin)
MT_BOTH_TYPES(cos)
MT_BOTH_TYPES(tanh)
MT_BOTH_TYPES(erf)
MT_BOTH_TYPES(erfc)
#undef MT_BOTH_TYPES
MT_HOST_DEVICE float pow(float x, float y) { return MT_MATH(powf)(x, y); }
MT_HOST_DEVICE double pow(double x, double y) { return MT_MATH(pow)(x, y); }
}  // namespace math

// MT_FUNCTOR(Name, expression of x) and MT_FUNCTOR2(Name, Result, expression of a and b).
#define MT_FUNCTOR(Name, ...)            \
  struct Name {                          \
    template <typename T>                \
    MT_HOST_DEVICE static T apply(T x) { \
      return __VA_ARGS__;                \
    }                                    \
  };
#define MT_FUNCTOR2(Name, Result, ...)             \
  struct Name {                                    \
    template <typename T>                          \
    MT_HOST_DEVICE static Result apply(T a, T b) { \
      return __VA_ARGS__;                          \
    }                                              \
  };

MT_FUNCTOR(Neg, -x)
MT_FUNCTOR(Abs, math::fabs(x))
MT_FUNCTOR(Reciprocal, T(1) / x)
MT_FUNCTOR(Square, x* x)
MT_FUNCTOR(Sqrt, math::sqrt(x))
MT_FUNCTOR(Rsqrt, T(1) / math::sqrt(x))
MT_FUNCTOR(Exp, math::exp(x))
MT_FUNCTOR(Log, math::log(x))
MT_FUNCTOR(Sin, math::sin(x))
MT_FUNCTOR(Cos, math::cos(x))
MT_FUNCTOR(Tanh, math::tanh(x))
MT_FUNCTOR(Erf, math::erf(x))
MT_FUNCTOR(Sigmoid, T(1) / (T(1) + math::exp(-x)))
MT_FUNCTOR(Relu, x <= T(0) ? T(0) : x)
MT_FUNCTOR(Silu, x / (T(1) + math::exp(-x)))
// x times the normal distribution function (Hendrycks & Gimpel 2016); erfc does not cancel where x is negative.
MT_FUNCTOR(Gelu, T(0.5) * x * math::erfc(x * T(-0.70710678118654752440)))
// Their approximation 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), as x sigmoid(2 ...), which does not cancel.
MT_FUNCTOR(GeluTanh, x / (T(1) + math::exp(T(-1.59576912160573071176) * x * (T(1) + T(0.044715) * x * x))))

MT_FUNCTOR2(Add, T, a + b)
MT_FUNCTOR2(Sub, T, a - b)
MT_FUNCTOR2(Mul, T, a* b)
MT_FUNCTOR2(Div, T, a / b)
MT_FUNCTOR2(Pow, T, math::pow(a, b))
// The operand order lets a NaN on either side pass.
MT_FUNCTOR2(Maximum, T, a > b || a != a ? a : b)
MT_FUNCTOR2(Minimum, T, a < b || a != a ? a : b)
MT_FUNCTOR2(Eq, bool, a == b)
MT_FUNCTOR2(Ne, bool, a != b)
MT_FUNCTOR2(Lt, bool, a < b)
MT_FUNCTOR2(Le, bool, a <= b)
MT_FUNCTOR2(Gt, bool, a > b)
MT_FUNCTOR2(Ge, bool, a >= b)

#undef MT_FUNCTOR
#undef MT_FUNCTOR2

// visit(functor) for the functor of `op`; what it returns.
// clang-format off
template <typename Visit>
MT_HOST_DEVICE auto with_functor(UnaryOp op, const Visit& visit) {
  switch (op) {
#define MT_UNARY(name, Functor) case UnaryOp::k##Functor: return visit(Functor{});
#define MT_BINARY(name, Functor)
#define MT_COMPARE(name, Functor)
#include "kernels/pointwise.def"
#undef MT_UNARY
#undef MT_BINARY
#undef MT_COMPARE
  }
  __builtin_unreachable();
}
template <typename Visit>
MT_HOST_DEVICE auto with_functor(BinaryOp op, const Visit& visit) {
  switch (op) {
#define MT_UNARY(name, Functor)
#define MT_BINARY(name, Functor) case BinaryOp::k##Functor: return visit(Functor{});
#define MT_COMPARE(name, Functor) MT_BINARY(name, Functor)
#include "kernels/pointwise.def"
#undef MT_UNARY
#undef MT_BINARY
#undef MT_COMPARE
  }
  __builtin_unreachable();
}
// clang-format on

// The element type of the result of a binary functor on T: bool for comparisons.
template <typename Functor, typename T>
using ResultOf = decltype(Functor::apply(T{}, T{}));

}  // namespace minitorch::kernels::functors
