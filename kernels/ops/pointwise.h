// map, zip and where: element by element over strided operands. With reduce and matmul they are the spine of the tensor
// library; which functions there are is listed once, in kernels/pointwise.def.
#pragma once

#include <cstdint>

#include "kernels/ops/copy.h"
#include "minitorch/base/dtype.h"

namespace minitorch::kernels {

enum class UnaryOp : std::uint8_t {
#define MT_UNARY(name, Functor) k##Functor,
#define MT_BINARY(name, Functor)
#define MT_COMPARE(name, Functor)
#include "kernels/pointwise.def"
#undef MT_UNARY
#undef MT_BINARY
#undef MT_COMPARE
};

enum class BinaryOp : std::uint8_t {
#define MT_UNARY(name, Functor)
#define MT_BINARY(name, Functor) k##Functor,
#define MT_COMPARE(name, Functor) k##Functor,
#include "kernels/pointwise.def"
#undef MT_UNARY
#undef MT_BINARY
#undef MT_COMPARE
};

// out[i...] = f(x[i...]); x and out of `dtype`, f32 or f64. Strides are in elements; x's may be 0. `out` may be x when
// their strides are the same, and overlaps nothing else.
// Numerics: the functor in kernels/pointwise_functors.h, computed in `dtype`. Tolerance against `reference` (double):
// f32 4 units in the last place of the result plus 1e-37, for gelu and gelu_tanh of the argument (their factor of x
// cancels, or is the exponential of a rounded number, where x is negative); f64 the same functor.
struct MapArgs {
  UnaryOp op{};
  DType dtype = DType::kF32;
  int dims = 0;
  std::int64_t shape[kMaxDims] = {};
  const void* x = nullptr;
  std::int64_t x_strides[kMaxDims] = {};
  void* out = nullptr;
  std::int64_t out_strides[kMaxDims] = {};
};

// out[i...] = f(a[i...], b[i...]); a and b of `dtype`, f32 or f64; out of `dtype`, or bool for comparisons. Strides of
// a and b may be 0 (broadcast). `out` may be a or b when the strides are the same, and overlaps nothing else.
// Numerics and tolerance as in MapArgs; the four operations of arithmetic are exact to the last place on every table.
struct ZipArgs {
  BinaryOp op{};
  DType dtype = DType::kF32;
  int dims = 0;
  std::int64_t shape[kMaxDims] = {};
  const void* a = nullptr;
  std::int64_t a_strides[kMaxDims] = {};
  const void* b = nullptr;
  std::int64_t b_strides[kMaxDims] = {};
  void* out = nullptr;
  std::int64_t out_strides[kMaxDims] = {};
};

// out[i...] = condition[i...] ? a[i...] : b[i...]; a, b and out of `dtype` (f32 or f64), condition bool. Strides as in
// ZipArgs.
struct WhereArgs {
  DType dtype = DType::kF32;
  int dims = 0;
  std::int64_t shape[kMaxDims] = {};
  const bool* condition = nullptr;
  std::int64_t condition_strides[kMaxDims] = {};
  const void* a = nullptr;
  std::int64_t a_strides[kMaxDims] = {};
  const void* b = nullptr;
  std::int64_t b_strides[kMaxDims] = {};
  void* out = nullptr;
  std::int64_t out_strides[kMaxDims] = {};
};

}  // namespace minitorch::kernels
