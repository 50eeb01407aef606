// Sixteen f32 lanes in two AVX2 registers. The same functions as in vec_avx512.h, with the same results bit for bit.
//
// Included only by table_avx2.cpp, which is compiled for AVX2 and FMA: everything has internal linkage.
#pragma once

#include <immintrin.h>

#include <cstdint>

#define MT_INLINE [[gnu::always_inline]] inline

namespace minitorch::kernels::avx2 {
namespace {

struct F32x16 {
  __m256 low, high;
};
struct U32x16 {
  __m256i low, high;
};

// Shape of linear's tiles: rows x panels is at most kAccumulators vectors. 16 registers, two per vector: 6 accumulators
// leave 4 for the operands.
constexpr int kAccumulators = 6;
constexpr int kMaxTileRows = 6;

// Eight lane masks of which the first `count` are set, as a window into this table.
alignas(64) constexpr std::int32_t kLaneMasks[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
MT_INLINE __m256i first_lanes(std::int64_t count) {
  const std::int64_t clamped = count < 0 ? 0 : (count > 8 ? 8 : count);
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kLaneMasks + 8 - clamped));
}

MT_INLINE F32x16 zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
MT_INLINE F32x16 broadcast(float value) {
  const __m256 v = _mm256_set1_ps(value);
  return {v, v};
}
MT_INLINE U32x16 broadcast_u32(std::uint32_t value) {
  const __m256i v = _mm256_set1_epi32(static_cast<int>(value));
  return {v, v};
}

MT_INLINE U32x16 as_bits(F32x16 x) { return {_mm256_castps_si256(x.low), _mm256_castps_si256(x.high)}; }
MT_INLINE F32x16 as_float(U32x16 x) { return {_mm256_castsi256_ps(x.low), _mm256_castsi256_ps(x.high)}; }
MT_INLINE U32x16 add(U32x16 a, U32x16 b) { return {_mm256_add_epi32(a.low, b.low), _mm256_add_epi32(a.high, b.high)}; }
MT_INLINE U32x16 sub(U32x16 a, U32x16 b) { return {_mm256_sub_epi32(a.low, b.low), _mm256_sub_epi32(a.high, b.high)}; }
MT_INLINE U32x16 bit_and(U32x16 a, U32x16 b) {
  return {_mm256_and_si256(a.low, b.low), _mm256_and_si256(a.high, b.high)};
}
template <int kBits>
MT_INLINE U32x16 shift_left(U32x16 x) {
  return {_mm256_slli_epi32(x.low, kBits), _mm256_slli_epi32(x.high, kBits)};
}
template <int kBits>
MT_INLINE U32x16 shift_right_signed(U32x16 x) {
  return {_mm256_srai_epi32(x.low, kBits), _mm256_srai_epi32(x.high, kBits)};
}

// Addresses need no alignment. The partial forms touch `count` elements, 0 <= count <= 16; missing lanes are 0.
MT_INLINE F32x16 load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
MT_INLINE F32x16 load_partial(const float* p, std::int64_t count) {
  return {_mm256_maskload_ps(p, first_lanes(count)), _mm256_maskload_ps(p + 8, first_lanes(count - 8))};
}
MT_INLINE void store(float* p, F32x16 x) {
  _mm256_storeu_ps(p, x.low);
  _mm256_storeu_ps(p + 8, x.high);
}
MT_INLINE void store_partial(float* p, F32x16 x, std::int64_t count) {
  _mm256_maskstore_ps(p, first_lanes(count), x.low);
  _mm256_maskstore_ps(p + 8, first_lanes(count - 8), x.high);
}
MT_INLINE U32x16 load_u32(const void* p) {
  const auto* words = static_cast<const __m256i*>(p);
  return {_mm256_loadu_si256(words), _mm256_loadu_si256(words + 1)};
}
MT_INLINE F32x16 load(const std::uint16_t* bf16) {
  const auto* halves = reinterpret_cast<const __m128i*>(bf16);
  const U32x16 wide{_mm256_cvtepu16_epi32(_mm_loadu_si128(halves)), _mm256_cvtepu16_epi32(_mm_loadu_si128(halves + 1))};
  return as_float(shift_left<16>(wide));
}
// There is no masked load of 16-bit elements.
MT_INLINE F32x16 load_partial(const std::uint16_t* bf16, std::int64_t count) {
  alignas(32) std::uint16_t copy[16] = {};
  for (std::int64_t i = 0; i < count; ++i) copy[i] = bf16[i];
  return load(copy);
}

MT_INLINE F32x16 add(F32x16 a, F32x16 b) { return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)}; }
MT_INLINE F32x16 sub(F32x16 a, F32x16 b) { return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)}; }
MT_INLINE F32x16 mul(F32x16 a, F32x16 b) { return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)}; }
MT_INLINE F32x16 div(F32x16 a, F32x16 b) { return {_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)}; }
MT_INLINE F32x16 fma(F32x16 a, F32x16 b, F32x16 c) {
  return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}
MT_INLINE F32x16 sqrt(F32x16 x) { return {_mm256_sqrt_ps(x.low), _mm256_sqrt_ps(x.high)}; }
// a > b ? a : b, so b when either is a NaN; min likewise with a < b.
MT_INLINE F32x16 max(F32x16 a, F32x16 b) { return {_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)}; }
MT_INLINE F32x16 min(F32x16 a, F32x16 b) { return {_mm256_min_ps(a.low, b.low), _mm256_min_ps(a.high, b.high)}; }

// a where the sign bit of x is set, else b.
MT_INLINE F32x16 select_negative(F32x16 x, F32x16 a, F32x16 b) {
  return {_mm256_blendv_ps(b.low, a.low, x.low), _mm256_blendv_ps(b.high, a.high, x.high)};
}

// Reductions over the lanes in pairs: i with i + 8, then i + 4, i + 2, i + 1, the same in every table.
MT_INLINE float sum_lanes(__m256 x) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
MT_INLINE float max_lane(__m256 x) {
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}
MT_INLINE float sum_lanes(F32x16 x) { return sum_lanes(_mm256_add_ps(x.low, x.high)); }
MT_INLINE float max_lane(F32x16 x) { return max_lane(_mm256_max_ps(x.low, x.high)); }

// Lanes from `count` on become `fill`.
MT_INLINE F32x16 keep_first(F32x16 x, std::int64_t count, F32x16 fill) {
  return {_mm256_blendv_ps(fill.low, x.low, _mm256_castsi256_ps(first_lanes(count))),
          _mm256_blendv_ps(fill.high, x.high, _mm256_castsi256_ps(first_lanes(count - 8)))};
}

// One bit per lane.
MT_INLINE std::uint32_t mask_of(__m256 low, __m256 high) {
  return static_cast<std::uint32_t>(_mm256_movemask_ps(low)) | static_cast<std::uint32_t>(_mm256_movemask_ps(high))
                                                                   << 8;
}
MT_INLINE std::uint32_t mask_nan(F32x16 x) {
  return mask_of(_mm256_cmp_ps(x.low, x.low, _CMP_UNORD_Q), _mm256_cmp_ps(x.high, x.high, _CMP_UNORD_Q));
}
MT_INLINE std::uint32_t mask_equal(F32x16 a, F32x16 b) {
  return mask_of(_mm256_cmp_ps(a.low, b.low, _CMP_EQ_OQ), _mm256_cmp_ps(a.high, b.high, _CMP_EQ_OQ));
}
MT_INLINE std::uint32_t mask_not_less_equal(F32x16 a, F32x16 b) {
  return mask_of(_mm256_cmp_ps(a.low, b.low, _CMP_NLE_UQ), _mm256_cmp_ps(a.high, b.high, _CMP_NLE_UQ));
}

// Lane j of out[i] becomes lane i of in[j].
MT_INLINE void transpose(const __m256 (&in)[8], __m256 (&out)[8]) {
  __m256 fours[8];
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {
    const __m256 a = _mm256_unpacklo_ps(in[i], in[i + 1]);
    const __m256 b = _mm256_unpackhi_ps(in[i], in[i + 1]);
    const __m256 c = _mm256_unpacklo_ps(in[i + 2], in[i + 3]);
    const __m256 d = _mm256_unpackhi_ps(in[i + 2], in[i + 3]);
    fours[i] = _mm256_shuffle_ps(a, c, 0x44);
    fours[i + 1] = _mm256_shuffle_ps(a, c, 0xEE);
    fours[i + 2] = _mm256_shuffle_ps(b, d, 0x44);
    fours[i + 3] = _mm256_shuffle_ps(b, d, 0xEE);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    out[i] = _mm256_permute2f128_ps(fours[i], fours[i + 4], 0x20);
    out[i + 4] = _mm256_permute2f128_ps(fours[i], fours[i + 4], 0x31);
  }
}

// Lane j of rows[i] and lane i of rows[j] change places.
MT_INLINE void transpose(F32x16 (&rows)[16]) {
  __m256 in[8], top_low[8], top_high[8], bottom_low[8], bottom_high[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) in[i] = rows[i].low;
  transpose(in, top_low);
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) in[i] = rows[i].high;
  transpose(in, top_high);
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) in[i] = rows[i + 8].low;
  transpose(in, bottom_low);
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) in[i] = rows[i + 8].high;
  transpose(in, bottom_high);
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    rows[i] = {top_low[i], bottom_low[i]};
    rows[i + 8] = {top_high[i], bottom_high[i]};
  }
}

// Sixteen signed integers, and sixteen f16.
MT_INLINE F32x16 to_float(U32x16 x) { return {_mm256_cvtepi32_ps(x.low), _mm256_cvtepi32_ps(x.high)}; }
MT_INLINE F32x16 load_halves(const void* f16) {
  const auto* halves = static_cast<const __m128i*>(f16);
  return {_mm256_cvtph_ps(_mm_loadu_si128(halves)), _mm256_cvtph_ps(_mm_loadu_si128(halves + 1))};
}
// Multiply-add with one rounding, on every table.
MT_INLINE F32x16 fma_once(F32x16 a, F32x16 b, F32x16 c) { return fma(a, b, c); }

// Products of bytes in quads of k: weights as u8 in [0, 255], x in [-127, 127] widened to 16 bits, elements 0 and 2 of
// a quad beside each other in one word, 1 and 3 in the next. vpmaddwd is exact on them, where vpmaddubsw would
// saturate.
constexpr int kQuadsTakeAway = 0;  // from the bytes of weights
constexpr int kQuadWords = 2;
struct Quads {
  U32x16 even, odd;
};
MT_INLINE Quads quads_of(U32x16 bytes) {
  const __m256i mask = _mm256_set1_epi16(0xFF);
  return {{_mm256_and_si256(bytes.low, mask), _mm256_and_si256(bytes.high, mask)},
          {_mm256_srli_epi16(bytes.low, 8), _mm256_srli_epi16(bytes.high, 8)}};
}
struct QuadInput {
  __m256i even, odd;
};
MT_INLINE QuadInput broadcast_quad(const std::uint32_t* x) {
  return {_mm256_set1_epi32(static_cast<int>(x[0])), _mm256_set1_epi32(static_cast<int>(x[1]))};
}
MT_INLINE __m256i add_products(__m256i sum, __m256i a, __m256i b) {
  return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
}
MT_INLINE U32x16 dot_quads(U32x16 sum, const Quads& w, const QuadInput& x) {
  return {add_products(add_products(sum.low, w.even.low, x.even), w.odd.low, x.odd),
          add_products(add_products(sum.high, w.even.high, x.even), w.odd.high, x.odd)};
}
MT_INLINE __m128i pair_up(__m256i x) {
  const __m256i first = _mm256_and_si256(x, _mm256_set1_epi32(0xFFFF));
  const __m256i second = _mm256_slli_epi32(_mm256_bsrli_epi128(x, 8), 16);
  return _mm256_castsi256_si128(_mm256_permute4x64_epi64(_mm256_or_si256(first, second), 0x08));
}
// Four quads of x from 16 integers.
MT_INLINE void store_quads(std::uint32_t* out, U32x16 x) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), pair_up(x.low));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 4), pair_up(x.high));
}

}  // namespace
}  // namespace minitorch::kernels::avx2
