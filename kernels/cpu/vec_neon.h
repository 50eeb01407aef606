// Sixteen f32 lanes in four NEON registers of arm64. The same functions as in vec_avx2.h, with the same results bit for
// bit.
//
// Included only by table_neon.cpp and table_neondot.cpp: everything has internal linkage.
#pragma once

#include <arm_neon.h>

#include <cstdint>

#define MT_INLINE [[gnu::always_inline]] inline

namespace minitorch::kernels::neon {
namespace {

struct F32x16 {
  float32x4_t q[4];
};
struct U32x16 {
  uint32x4_t q[4];
};

// Shape of linear's tiles: rows x panels is at most kAccumulators vectors. 32 registers, four per vector: 6
// accumulators leave 8 for the operands.
constexpr int kAccumulators = 6;
constexpr int kMaxTileRows = 6;

// Applies an operation to each of the four parts.
template <typename Result, typename Op>
MT_INLINE Result for_parts(Op op) {
  return {{op(0), op(1), op(2), op(3)}};
}

MT_INLINE F32x16 broadcast(float value) {
  const float32x4_t quad = vdupq_n_f32(value);
  return {{quad, quad, quad, quad}};
}
MT_INLINE F32x16 zero() { return broadcast(0.0f); }
MT_INLINE U32x16 broadcast_u32(std::uint32_t value) {
  const uint32x4_t quad = vdupq_n_u32(value);
  return {{quad, quad, quad, quad}};
}

// clang-format off
MT_INLINE U32x16 as_bits(F32x16 x) { return for_parts<U32x16>([&](int i) { return vreinterpretq_u32_f32(x.q[i]); }); }
MT_INLINE F32x16 as_float(U32x16 x) { return for_parts<F32x16>([&](int i) { return vreinterpretq_f32_u32(x.q[i]); }); }
MT_INLINE U32x16 add(U32x16 a, U32x16 b) { return for_parts<U32x16>([&](int i) { return vaddq_u32(a.q[i], b.q[i]); }); }
MT_INLINE U32x16 sub(U32x16 a, U32x16 b) { return for_parts<U32x16>([&](int i) { return vsubq_u32(a.q[i], b.q[i]); }); }
MT_INLINE U32x16 bit_and(U32x16 a, U32x16 b) { return for_parts<U32x16>([&](int i) { return vandq_u32(a.q[i], b.q[i]); }); }
template <int kBits>
MT_INLINE U32x16 shift_left(U32x16 x) { return for_parts<U32x16>([&](int i) { return vshlq_n_u32(x.q[i], kBits); }); }
template <int kBits>
MT_INLINE U32x16 shift_right_signed(U32x16 x) {
  return for_parts<U32x16>([&](int i) { return vreinterpretq_u32_s32(vshrq_n_s32(vreinterpretq_s32_u32(x.q[i]), kBits)); });
}
// clang-format on

// Addresses need no alignment. The partial forms touch `count` elements, 0 <= count <= 16; missing lanes are 0.
MT_INLINE F32x16 load(const float* p) {
  return for_parts<F32x16>([&](int i) { return vld1q_f32(p + 4 * i); });
}
MT_INLINE void store(float* p, F32x16 x) {
  for (int i = 0; i < 4; ++i) vst1q_f32(p + 4 * i, x.q[i]);
}
// Of one part; any count, those below 0 and above 4 stand for none and all.
MT_INLINE float32x4_t load_part(const float* p, std::int64_t count) {
  if (count >= 4) return vld1q_f32(p);
  float32x4_t part = vdupq_n_f32(0.0f);
  if (count > 0) part = vld1q_lane_f32(p, part, 0);
  if (count > 1) part = vld1q_lane_f32(p + 1, part, 1);
  if (count > 2) part = vld1q_lane_f32(p + 2, part, 2);
  return part;
}
MT_INLINE void store_part(float* p, float32x4_t part, std::int64_t count) {
  if (count >= 4) return vst1q_f32(p, part);
  if (count > 0) vst1q_lane_f32(p, part, 0);
  if (count > 1) vst1q_lane_f32(p + 1, part, 1);
  if (count > 2) vst1q_lane_f32(p + 2, part, 2);
}
MT_INLINE F32x16 load_partial(const float* p, std::int64_t count) {
  return for_parts<F32x16>([&](int i) { return load_part(p + 4 * i, count - 4 * i); });
}
MT_INLINE void store_partial(float* p, F32x16 x, std::int64_t count) {
  for (int i = 0; i < 4; ++i) store_part(p + 4 * i, x.q[i], count - 4 * i);
}
MT_INLINE U32x16 load_u32(const void* p) {
  const auto* bytes = static_cast<const std::uint8_t*>(p);
  return for_parts<U32x16>([&](int i) { return vreinterpretq_u32_u8(vld1q_u8(bytes + 16 * i)); });
}
MT_INLINE F32x16 load(const std::uint16_t* bf16) {
  const uint16x8_t none = vdupq_n_u16(0);
  const uint16x8_t low = vld1q_u16(bf16);
  const uint16x8_t high = vld1q_u16(bf16 + 8);
  return {{vreinterpretq_f32_u16(vzip1q_u16(none, low)), vreinterpretq_f32_u16(vzip2q_u16(none, low)),
           vreinterpretq_f32_u16(vzip1q_u16(none, high)), vreinterpretq_f32_u16(vzip2q_u16(none, high))}};
}
MT_INLINE F32x16 load_partial(const std::uint16_t* bf16, std::int64_t count) {
  alignas(16) std::uint16_t copy[16] = {};
  for (std::int64_t i = 0; i < count; ++i) copy[i] = bf16[i];
  return load(copy);
}

// clang-format off
MT_INLINE F32x16 add(F32x16 a, F32x16 b) { return for_parts<F32x16>([&](int i) { return vaddq_f32(a.q[i], b.q[i]); }); }
MT_INLINE F32x16 sub(F32x16 a, F32x16 b) { return for_parts<F32x16>([&](int i) { return vsubq_f32(a.q[i], b.q[i]); }); }
MT_INLINE F32x16 mul(F32x16 a, F32x16 b) { return for_parts<F32x16>([&](int i) { return vmulq_f32(a.q[i], b.q[i]); }); }
MT_INLINE F32x16 div(F32x16 a, F32x16 b) { return for_parts<F32x16>([&](int i) { return vdivq_f32(a.q[i], b.q[i]); }); }
MT_INLINE F32x16 fma(F32x16 a, F32x16 b, F32x16 c) { return for_parts<F32x16>([&](int i) { return vfmaq_f32(c.q[i], a.q[i], b.q[i]); }); }
MT_INLINE F32x16 sqrt(F32x16 x) { return for_parts<F32x16>([&](int i) { return vsqrtq_f32(x.q[i]); }); }
// clang-format on
// Multiply-add with one rounding, on every table.
MT_INLINE F32x16 fma_once(F32x16 a, F32x16 b, F32x16 c) { return fma(a, b, c); }

// a > b ? a : b, so b when either is a NaN; min likewise with a < b. (fmax gives a NaN where either is one.)
MT_INLINE float32x4_t larger_of(float32x4_t a, float32x4_t b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
MT_INLINE F32x16 max(F32x16 a, F32x16 b) {
  return for_parts<F32x16>([&](int i) { return larger_of(a.q[i], b.q[i]); });
}
MT_INLINE F32x16 min(F32x16 a, F32x16 b) {
  return for_parts<F32x16>([&](int i) { return vbslq_f32(vcltq_f32(a.q[i], b.q[i]), a.q[i], b.q[i]); });
}

// a where the sign bit of x is set, else b.
MT_INLINE F32x16 select_negative(F32x16 x, F32x16 a, F32x16 b) {
  return for_parts<F32x16>([&](int i) { return vbslq_f32(vcltzq_s32(vreinterpretq_s32_f32(x.q[i])), a.q[i], b.q[i]); });
}

// Reductions over the lanes in pairs: i with i + 8, then i + 4, i + 2, i + 1, the same in every table.
MT_INLINE float sum_lanes(F32x16 x) {
  const float32x4_t four = vaddq_f32(vaddq_f32(x.q[0], x.q[2]), vaddq_f32(x.q[1], x.q[3]));
  const float32x2_t two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
  return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
}
MT_INLINE float max_lane(F32x16 x) {
  const float32x4_t four = larger_of(larger_of(x.q[0], x.q[2]), larger_of(x.q[1], x.q[3]));
  const float32x4_t two = larger_of(four, vextq_f32(four, four, 2));
  return vgetq_lane_f32(larger_of(two, vextq_f32(two, two, 1)), 0);
}

// Lanes from `count` on become `fill`.
MT_INLINE F32x16 keep_first(F32x16 x, std::int64_t count, F32x16 fill) {
  constexpr std::int32_t kLanes[4] = {0, 1, 2, 3};
  const int32x4_t lanes = vld1q_s32(kLanes);
  return for_parts<F32x16>([&](int i) {
    const int32x4_t limit = vdupq_n_s32(static_cast<std::int32_t>(count) - 4 * i);
    return vbslq_f32(vcltq_s32(lanes, limit), x.q[i], fill.q[i]);
  });
}

// One bit per lane. `op` compares one part and gives all ones or zeros per element.
template <typename Op>
MT_INLINE std::uint32_t mask_of(Op op) {
  constexpr std::uint32_t kBits[4] = {1, 2, 4, 8};
  const uint32x4_t bits = vld1q_u32(kBits);
  std::uint32_t mask = 0;
  for (int i = 0; i < 4; ++i) mask |= vaddvq_u32(vandq_u32(op(i), bits)) << (4 * i);
  return mask;
}
// clang-format off
MT_INLINE std::uint32_t mask_nan(F32x16 x) { return mask_of([&](int i) { return vmvnq_u32(vceqq_f32(x.q[i], x.q[i])); }); }
MT_INLINE std::uint32_t mask_equal(F32x16 a, F32x16 b) { return mask_of([&](int i) { return vceqq_f32(a.q[i], b.q[i]); }); }
MT_INLINE std::uint32_t mask_not_less_equal(F32x16 a, F32x16 b) { return mask_of([&](int i) { return vmvnq_u32(vcleq_f32(a.q[i], b.q[i])); }); }
// clang-format on

// Four rows of four lanes, the block at row `row` and part `part`; lane j of its row i becomes lane i of its row j.
struct Block {
  float32x4_t row[4];
};
MT_INLINE Block transposed_block(const F32x16 (&rows)[16], int row, int part) {
  float64x2_t pairs[4];
#pragma GCC unroll 2
  for (int i = 0; i < 4; i += 2) {
    const float32x4_t a = rows[row + i].q[part];
    const float32x4_t b = rows[row + i + 1].q[part];
    pairs[i] = vreinterpretq_f64_f32(vtrn1q_f32(a, b));
    pairs[i + 1] = vreinterpretq_f64_f32(vtrn2q_f32(a, b));
  }
  return {{vreinterpretq_f32_f64(vtrn1q_f64(pairs[0], pairs[2])), vreinterpretq_f32_f64(vtrn1q_f64(pairs[1], pairs[3])),
           vreinterpretq_f32_f64(vtrn2q_f64(pairs[0], pairs[2])),
           vreinterpretq_f32_f64(vtrn2q_f64(pairs[1], pairs[3]))}};
}

// Lane j of rows[i] and lane i of rows[j] change places.
MT_INLINE void transpose(F32x16 (&rows)[16]) {
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j <= i; ++j) {
      const Block upper = transposed_block(rows, 4 * j, i);
      const Block lower = transposed_block(rows, 4 * i, j);
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) {
        rows[4 * i + k].q[j] = upper.row[k];
        rows[4 * j + k].q[i] = lower.row[k];
      }
    }
  }
}

// Sixteen signed integers, and sixteen f16.
MT_INLINE F32x16 to_float(U32x16 x) {
  return for_parts<F32x16>([&](int i) { return vcvtq_f32_s32(vreinterpretq_s32_u32(x.q[i])); });
}
MT_INLINE F32x16 load_halves(const void* f16) {
  const auto* bytes = static_cast<const std::uint8_t*>(f16);
  return for_parts<F32x16>([&](int i) { return vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(bytes + 8 * i))); });
}

}  // namespace
}  // namespace minitorch::kernels::neon
