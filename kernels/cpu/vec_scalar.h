// Sixteen f32 lanes in four vectors of the compiler's own kind, which any processor can run: SSE2 on x86-64, NEON on
// arm64, plain floats elsewhere. Multiply-add rounds twice here, so linear and attention differ from the other tables
// in the last bits.
//
// Included only by table_scalar.cpp; everything has internal linkage.
#pragma once

#include <cstdint>

#include "minitorch/base/float16.h"

#define MT_INLINE [[gnu::always_inline]] inline

namespace minitorch::kernels::scalar {
namespace {

using Quad = float __attribute__((vector_size(16)));
using QuadU32 = std::uint32_t __attribute__((vector_size(16)));
using QuadI32 = std::int32_t __attribute__((vector_size(16)));

struct F32x16 {
  Quad q[4];
};
struct U32x16 {
  QuadU32 q[4];
};

// Shape of linear's tiles: rows x panels is at most kAccumulators vectors. 16 SSE2 registers, four per vector: 3
// accumulators leave 4 for the operands.
constexpr int kAccumulators = 3;
constexpr int kMaxTileRows = 3;

// Applies an operation to each of the four parts.
template <typename Result, typename Op>
MT_INLINE Result for_parts(Op op) {
  return {{op(0), op(1), op(2), op(3)}};
}

MT_INLINE F32x16 broadcast(float value) {
  const Quad quad = {value, value, value, value};
  return {{quad, quad, quad, quad}};
}
MT_INLINE F32x16 zero() { return broadcast(0.0f); }
MT_INLINE U32x16 broadcast_u32(std::uint32_t value) {
  const QuadU32 quad = {value, value, value, value};
  return {{quad, quad, quad, quad}};
}

MT_INLINE U32x16 as_bits(F32x16 x) {
  U32x16 bits;
  __builtin_memcpy(&bits, &x, sizeof(bits));
  return bits;
}
MT_INLINE F32x16 as_float(U32x16 x) {
  F32x16 values;
  __builtin_memcpy(&values, &x, sizeof(values));
  return values;
}
// clang-format off
MT_INLINE U32x16 add(U32x16 a, U32x16 b) { return for_parts<U32x16>([&](int i) { return a.q[i] + b.q[i]; }); }
MT_INLINE U32x16 sub(U32x16 a, U32x16 b) { return for_parts<U32x16>([&](int i) { return a.q[i] - b.q[i]; }); }
MT_INLINE U32x16 bit_and(U32x16 a, U32x16 b) { return for_parts<U32x16>([&](int i) { return a.q[i] & b.q[i]; }); }
template <int kBits>
MT_INLINE U32x16 shift_left(U32x16 x) { return for_parts<U32x16>([&](int i) { return x.q[i] << kBits; }); }
template <int kBits>
MT_INLINE U32x16 shift_right_signed(U32x16 x) {
  return for_parts<U32x16>([&](int i) { return reinterpret_cast<QuadU32>(reinterpret_cast<QuadI32>(x.q[i]) >> kBits); });
}
// clang-format on

// Addresses need no alignment. The partial forms touch `count` elements, 0 <= count <= 16; missing lanes are 0.
MT_INLINE F32x16 load(const float* p) {
  F32x16 x;
  __builtin_memcpy(&x, p, sizeof(x));
  return x;
}
MT_INLINE F32x16 load_partial(const float* p, std::int64_t count) {
  alignas(16) float copy[16] = {};
  for (std::int64_t i = 0; i < count; ++i) copy[i] = p[i];
  return load(copy);
}
MT_INLINE void store(float* p, F32x16 x) { __builtin_memcpy(p, &x, sizeof(x)); }
MT_INLINE void store_partial(float* p, F32x16 x, std::int64_t count) {
  alignas(16) float copy[16];
  store(copy, x);
  for (std::int64_t i = 0; i < count; ++i) p[i] = copy[i];
}
MT_INLINE U32x16 load_u32(const void* p) {
  U32x16 x;
  __builtin_memcpy(&x, p, sizeof(x));
  return x;
}
MT_INLINE F32x16 load_partial(const std::uint16_t* bf16, std::int64_t count) {
  alignas(16) std::uint32_t wide[16] = {};
  for (std::int64_t i = 0; i < count; ++i) wide[i] = static_cast<std::uint32_t>(bf16[i]) << 16;
  return as_float(load_u32(wide));
}
MT_INLINE F32x16 load(const std::uint16_t* bf16) { return load_partial(bf16, 16); }

// clang-format off
MT_INLINE F32x16 add(F32x16 a, F32x16 b) { return for_parts<F32x16>([&](int i) { return a.q[i] + b.q[i]; }); }
MT_INLINE F32x16 sub(F32x16 a, F32x16 b) { return for_parts<F32x16>([&](int i) { return a.q[i] - b.q[i]; }); }
MT_INLINE F32x16 mul(F32x16 a, F32x16 b) { return for_parts<F32x16>([&](int i) { return a.q[i] * b.q[i]; }); }
MT_INLINE F32x16 div(F32x16 a, F32x16 b) { return for_parts<F32x16>([&](int i) { return a.q[i] / b.q[i]; }); }
MT_INLINE F32x16 fma(F32x16 a, F32x16 b, F32x16 c) { return for_parts<F32x16>([&](int i) { return a.q[i] * b.q[i] + c.q[i]; }); }
// a > b ? a : b, so b when either is a NaN; min likewise with a < b.
MT_INLINE F32x16 max(F32x16 a, F32x16 b) { return for_parts<F32x16>([&](int i) { return a.q[i] > b.q[i] ? a.q[i] : b.q[i]; }); }
MT_INLINE F32x16 min(F32x16 a, F32x16 b) { return for_parts<F32x16>([&](int i) { return a.q[i] < b.q[i] ? a.q[i] : b.q[i]; }); }
// clang-format on

MT_INLINE F32x16 sqrt(F32x16 x) {
  for (Quad& part : x.q) {
    for (int i = 0; i < 4; ++i) part[i] = __builtin_sqrtf(part[i]);
  }
  return x;
}

// a where the sign bit of x is set, else b.
MT_INLINE F32x16 select_negative(F32x16 x, F32x16 a, F32x16 b) {
  return for_parts<F32x16>([&](int i) { return reinterpret_cast<QuadI32>(x.q[i]) < 0 ? a.q[i] : b.q[i]; });
}

// Reductions over the lanes in pairs: i with i + 8, then i + 4, i + 2, i + 1, the same in every table.
MT_INLINE float sum_lanes(F32x16 x) {
  const Quad four = (x.q[0] + x.q[2]) + (x.q[1] + x.q[3]);
  return (four[0] + four[2]) + (four[1] + four[3]);
}
MT_INLINE float larger_of(float a, float b) { return a > b ? a : b; }
MT_INLINE float max_lane(F32x16 x) {
  float best = x.q[0][0];
  for (int i = 1; i < 16; ++i) best = larger_of(x.q[i / 4][i % 4], best);
  return best;
}

// Lanes from `count` on become `fill`.
MT_INLINE F32x16 keep_first(F32x16 x, std::int64_t count, F32x16 fill) {
  alignas(16) float values[16];
  store(values, fill);
  store_partial(values, x, count);
  return load(values);
}

// One bit per lane. `op` compares one part and gives all ones or zeros per element.
template <typename Op>
MT_INLINE std::uint32_t mask_of(Op op) {
  std::uint32_t mask = 0;
  for (int i = 0; i < 4; ++i) {
    const QuadI32 part = op(i);
    for (int j = 0; j < 4; ++j) mask |= (static_cast<std::uint32_t>(part[j]) & 1u) << (i * 4 + j);
  }
  return mask;
}
// clang-format off
MT_INLINE std::uint32_t mask_nan(F32x16 x) { return mask_of([&](int i) { return x.q[i] != x.q[i]; }); }
MT_INLINE std::uint32_t mask_equal(F32x16 a, F32x16 b) { return mask_of([&](int i) { return a.q[i] == b.q[i]; }); }
MT_INLINE std::uint32_t mask_not_less_equal(F32x16 a, F32x16 b) { return mask_of([&](int i) { return ~(a.q[i] <= b.q[i]); }); }
// clang-format on

// Lane j of rows[i] and lane i of rows[j] change places.
MT_INLINE void transpose(F32x16 (&rows)[16]) {
  alignas(16) float values[16][16];
  for (int i = 0; i < 16; ++i) store(values[i], rows[i]);
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) rows[i].q[j / 4][j % 4] = values[j][i];
  }
}

// Sixteen signed integers, and sixteen f16.
MT_INLINE F32x16 to_float(U32x16 x) {
  return for_parts<F32x16>([&](int i) { return __builtin_convertvector(reinterpret_cast<QuadI32>(x.q[i]), Quad); });
}
MT_INLINE F32x16 load_halves(const void* f16) {
  Float16 halves[16];
  __builtin_memcpy(halves, f16, sizeof(halves));
  alignas(16) float values[16];
  for (int i = 0; i < 16; ++i) values[i] = minitorch::to_float(halves[i]);
  return load(values);
}
// Multiply-add with one rounding, on every table; here the C library's where the processor has none.
MT_INLINE F32x16 fma_once(F32x16 a, F32x16 b, F32x16 c) {
  alignas(16) float factors[16];
  alignas(16) float others[16];
  alignas(16) float sums[16];
  store(factors, a);
  store(others, b);
  store(sums, c);
  for (int i = 0; i < 16; ++i) sums[i] = __builtin_fmaf(factors[i], others[i], sums[i]);
  return load(sums);
}

// Products of bytes in quads of k: weights as u8 in [0, 255], x in [-127, 127], both widened to 16 bits, elements 0 and
// 2 of a quad beside each other in one word, 1 and 3 in the next. No product is above 255 * 127, so 16 bits hold it.
using QuadI16 = std::int16_t __attribute__((vector_size(16)));
constexpr int kQuadsTakeAway = 0;  // from the bytes of weights
constexpr int kQuadWords = 2;
struct Quads {
  U32x16 even, odd;
};
MT_INLINE Quads quads_of(U32x16 bytes) {
  const U32x16 mask = broadcast_u32(0x00FF00FFu);
  return {bit_and(bytes, mask), for_parts<U32x16>([&](int i) { return (bytes.q[i] >> 8) & mask.q[i]; })};
}
struct QuadInput {
  QuadU32 even, odd;
};
MT_INLINE QuadInput broadcast_quad(const std::uint32_t* x) {
  const QuadU32 even = {x[0], x[0], x[0], x[0]};
  const QuadU32 odd = {x[1], x[1], x[1], x[1]};
  return {even, odd};
}
MT_INLINE QuadU32 sum_of_products(QuadU32 a, QuadU32 b) {
  const auto products = reinterpret_cast<QuadU32>(reinterpret_cast<QuadI16>(a) * reinterpret_cast<QuadI16>(b));
  return reinterpret_cast<QuadU32>((reinterpret_cast<QuadI32>(products << 16) >> 16) +
                                   (reinterpret_cast<QuadI32>(products) >> 16));
}
MT_INLINE U32x16 dot_quads(U32x16 sum, const Quads& w, const QuadInput& x) {
  return for_parts<U32x16>(
      [&](int i) { return sum.q[i] + sum_of_products(w.even.q[i], x.even) + sum_of_products(w.odd.q[i], x.odd); });
}
// Four quads of x from 16 integers.
MT_INLINE void store_quads(std::uint32_t* out, U32x16 x) {
  for (int i = 0; i < 4; ++i) {
    out[2 * i] = (x.q[i][0] & 0xFFFFu) | x.q[i][2] << 16;
    out[2 * i + 1] = (x.q[i][1] & 0xFFFFu) | x.q[i][3] << 16;
  }
}

}  // namespace
}  // namespace minitorch::kernels::scalar
