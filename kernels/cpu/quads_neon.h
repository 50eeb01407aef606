// Products of bytes in quads of k on NEON, for weights in int8 and int4: with sdot in files compiled for it, else with
// products of 16 bits.
//
// Included only by table_neon.cpp and table_neondot.cpp: everything has internal linkage.
#pragma once

#include "kernels/cpu/vec_neon.h"

namespace minitorch::kernels::neon {
namespace {

#if defined(__ARM_FEATURE_DOTPROD)
// sdot takes signed bytes only, so 128 is taken away from those of weights.
constexpr int kQuadsTakeAway = 128;
constexpr int kQuadWords = 1;
struct Quads {
  int8x16_t bytes[4];
};
struct QuadInput {
  int8x16_t bytes;
};
MT_INLINE Quads quads_of(U32x16 bytes) {
  return for_parts<Quads>([&](int i) { return vreinterpretq_s8_u32(veorq_u32(bytes.q[i], vdupq_n_u32(0x80808080u))); });
}
MT_INLINE QuadInput broadcast_quad(const std::uint32_t* x) { return {vreinterpretq_s8_u32(vld1q_dup_u32(x))}; }
MT_INLINE U32x16 dot_quads(U32x16 sum, const Quads& w, const QuadInput& x) {
  return for_parts<U32x16>(
      [&](int i) { return vreinterpretq_u32_s32(vdotq_s32(vreinterpretq_s32_u32(sum.q[i]), w.bytes[i], x.bytes)); });
}
// Four quads of x from 16 integers.
MT_INLINE void store_quads(std::uint32_t* out, U32x16 x) {
  const uint16x8_t low = vuzp1q_u16(vreinterpretq_u16_u32(x.q[0]), vreinterpretq_u16_u32(x.q[1]));
  const uint16x8_t high = vuzp1q_u16(vreinterpretq_u16_u32(x.q[2]), vreinterpretq_u16_u32(x.q[3]));
  vst1q_u32(out, vreinterpretq_u32_u8(vuzp1q_u8(vreinterpretq_u8_u16(low), vreinterpretq_u8_u16(high))));
}
#else
// Weights as u8 in [0, 255], x in [-127, 127], both widened to 16 bits, elements 0 and 2 of a quad beside each other in
// one word, 1 and 3 in the next. No product is above 255 * 127, so 16 bits hold it.
constexpr int kQuadsTakeAway = 0;
constexpr int kQuadWords = 2;
struct Quads {
  int16x8_t even[4], odd[4];
};
struct QuadInput {
  int16x8_t even, odd;
};
MT_INLINE Quads quads_of(U32x16 bytes) {
  Quads quads;
  for (int i = 0; i < 4; ++i) {
    quads.even[i] = vreinterpretq_s16_u32(vandq_u32(bytes.q[i], vdupq_n_u32(0x00FF00FFu)));
    quads.odd[i] = vreinterpretq_s16_u16(vshrq_n_u16(vreinterpretq_u16_u32(bytes.q[i]), 8));
  }
  return quads;
}
MT_INLINE QuadInput broadcast_quad(const std::uint32_t* x) {
  return {vreinterpretq_s16_u32(vld1q_dup_u32(x)), vreinterpretq_s16_u32(vld1q_dup_u32(x + 1))};
}
MT_INLINE U32x16 dot_quads(U32x16 sum, const Quads& w, const QuadInput& x) {
  return for_parts<U32x16>([&](int i) {
    const int32x4_t even = vpadalq_s16(vreinterpretq_s32_u32(sum.q[i]), vmulq_s16(w.even[i], x.even));
    return vreinterpretq_u32_s32(vpadalq_s16(even, vmulq_s16(w.odd[i], x.odd)));
  });
}
// Four quads of x from 16 integers: the low halves of elements 0 and 2, then of 1 and 3.
MT_INLINE void store_quads(std::uint32_t* out, U32x16 x) {
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const uint16x4_t halves = vmovn_u32(x.q[i]);
    const uint32x2_t even = vreinterpret_u32_u16(vuzp1_u16(halves, halves));
    const uint32x2_t odd = vreinterpret_u32_u16(vuzp2_u16(halves, halves));
    vst1_u32(out + 2 * i, vzip1_u32(even, odd));
  }
}
#endif

}  // namespace
}  // namespace minitorch::kernels::neon
