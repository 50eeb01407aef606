// Sixteen f32 lanes in one AVX-512 register. The same functions as in vec_avx2.h and vec_scalar.h; kernel bodies use
// nothing else.
//
// Included only by table_avx512.cpp and table_avx512vnni.cpp, which are compiled for AVX-512, the second with VNNI as
// well: everything has internal linkage.
#pragma once

// GCC 12 takes the "undefined" operand inside its own intrinsics for an uninitialised variable (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#else
#include <immintrin.h>
#endif

#include <cstdint>

#define MT_INLINE [[gnu::always_inline]] inline

namespace minitorch::kernels::avx512 {
namespace {

struct F32x16 {
  __m512 v;
};
struct U32x16 {
  __m512i v;
};

// Shape of linear's tiles: rows x panels is at most kAccumulators vectors. 32 registers, one per vector: 24
// accumulators leave 8 for the operands.
constexpr int kAccumulators = 24;
constexpr int kMaxTileRows = 12;

MT_INLINE __mmask16 first_lanes(std::int64_t count) { return static_cast<__mmask16>((1u << count) - 1u); }

MT_INLINE F32x16 zero() { return {_mm512_setzero_ps()}; }
MT_INLINE F32x16 broadcast(float value) { return {_mm512_set1_ps(value)}; }
MT_INLINE U32x16 broadcast_u32(std::uint32_t value) { return {_mm512_set1_epi32(static_cast<int>(value))}; }

// Addresses need no alignment. The partial forms touch `count` elements, 0 <= count <= 16; missing lanes are 0.
MT_INLINE F32x16 load(const float* p) { return {_mm512_loadu_ps(p)}; }
MT_INLINE F32x16 load_partial(const float* p, std::int64_t count) {
  return {_mm512_maskz_loadu_ps(first_lanes(count), p)};
}
MT_INLINE void store(float* p, F32x16 x) { _mm512_storeu_ps(p, x.v); }
MT_INLINE void store_partial(float* p, F32x16 x, std::int64_t count) {
  _mm512_mask_storeu_ps(p, first_lanes(count), x.v);
}
MT_INLINE U32x16 load_u32(const void* p) { return {_mm512_loadu_si512(p)}; }
MT_INLINE F32x16 load(const std::uint16_t* bf16) {
  const __m256i half = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bf16));
  return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16))};
}
MT_INLINE F32x16 load_partial(const std::uint16_t* bf16, std::int64_t count) {
  const __m256i half = _mm256_maskz_loadu_epi16(first_lanes(count), bf16);
  return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16))};
}

MT_INLINE F32x16 add(F32x16 a, F32x16 b) { return {_mm512_add_ps(a.v, b.v)}; }
MT_INLINE F32x16 sub(F32x16 a, F32x16 b) { return {_mm512_sub_ps(a.v, b.v)}; }
MT_INLINE F32x16 mul(F32x16 a, F32x16 b) { return {_mm512_mul_ps(a.v, b.v)}; }
MT_INLINE F32x16 div(F32x16 a, F32x16 b) { return {_mm512_div_ps(a.v, b.v)}; }
MT_INLINE F32x16 fma(F32x16 a, F32x16 b, F32x16 c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
MT_INLINE F32x16 sqrt(F32x16 x) { return {_mm512_sqrt_ps(x.v)}; }
// a > b ? a : b, so b when either is a NaN; min likewise with a < b.
MT_INLINE F32x16 max(F32x16 a, F32x16 b) { return {_mm512_max_ps(a.v, b.v)}; }
MT_INLINE F32x16 min(F32x16 a, F32x16 b) { return {_mm512_min_ps(a.v, b.v)}; }

// a where the sign bit of x is set, else b.
MT_INLINE F32x16 select_negative(F32x16 x, F32x16 a, F32x16 b) {
  return {_mm512_mask_mov_ps(b.v, _mm512_movepi32_mask(_mm512_castps_si512(x.v)), a.v)};
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
MT_INLINE float sum_lanes(F32x16 x) {
  return sum_lanes(_mm256_add_ps(_mm512_castps512_ps256(x.v), _mm512_extractf32x8_ps(x.v, 1)));
}
MT_INLINE float max_lane(F32x16 x) {
  return max_lane(_mm256_max_ps(_mm512_castps512_ps256(x.v), _mm512_extractf32x8_ps(x.v, 1)));
}

// Lanes from `count` on become `fill`.
MT_INLINE F32x16 keep_first(F32x16 x, std::int64_t count, F32x16 fill) {
  return {_mm512_mask_mov_ps(fill.v, first_lanes(count), x.v)};
}

// One bit per lane.
MT_INLINE std::uint32_t mask_nan(F32x16 x) { return _mm512_cmp_ps_mask(x.v, x.v, _CMP_UNORD_Q); }
MT_INLINE std::uint32_t mask_equal(F32x16 a, F32x16 b) { return _mm512_cmp_ps_mask(a.v, b.v, _CMP_EQ_OQ); }
MT_INLINE std::uint32_t mask_not_less_equal(F32x16 a, F32x16 b) { return _mm512_cmp_ps_mask(a.v, b.v, _CMP_NLE_UQ); }

MT_INLINE U32x16 as_bits(F32x16 x) { return {_mm512_castps_si512(x.v)}; }
MT_INLINE F32x16 as_float(U32x16 x) { return {_mm512_castsi512_ps(x.v)}; }
MT_INLINE U32x16 add(U32x16 a, U32x16 b) { return {_mm512_add_epi32(a.v, b.v)}; }
MT_INLINE U32x16 sub(U32x16 a, U32x16 b) { return {_mm512_sub_epi32(a.v, b.v)}; }
MT_INLINE U32x16 bit_and(U32x16 a, U32x16 b) { return {_mm512_and_si512(a.v, b.v)}; }
template <int kBits>
MT_INLINE U32x16 shift_left(U32x16 x) {
  return {_mm512_slli_epi32(x.v, kBits)};
}
template <int kBits>
MT_INLINE U32x16 shift_right_signed(U32x16 x) {
  return {_mm512_srai_epi32(x.v, kBits)};
}

// Lane j of rows[i] and lane i of rows[j] change places: first within 2 x 2 and 4 x 4 elements, then whole quarters.
MT_INLINE void transpose(F32x16 (&rows)[16]) {
  __m512 pairs[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; i += 2) {
    pairs[i] = _mm512_unpacklo_ps(rows[i].v, rows[i + 1].v);
    pairs[i + 1] = _mm512_unpackhi_ps(rows[i].v, rows[i + 1].v);
  }
  __m512 fours[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; i += 4) {
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      const __m512d low = _mm512_castps_pd(pairs[i + j]);
      const __m512d high = _mm512_castps_pd(pairs[i + j + 2]);
      fours[i + 2 * j] = _mm512_castpd_ps(_mm512_unpacklo_pd(low, high));
      fours[i + 2 * j + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(low, high));
    }
  }
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    const __m512 even_low = _mm512_shuffle_f32x4(fours[j], fours[j + 4], 0x88);
    const __m512 odd_low = _mm512_shuffle_f32x4(fours[j], fours[j + 4], 0xDD);
    const __m512 even_high = _mm512_shuffle_f32x4(fours[j + 8], fours[j + 12], 0x88);
    const __m512 odd_high = _mm512_shuffle_f32x4(fours[j + 8], fours[j + 12], 0xDD);
    rows[j].v = _mm512_shuffle_f32x4(even_low, even_high, 0x88);
    rows[j + 4].v = _mm512_shuffle_f32x4(odd_low, odd_high, 0x88);
    rows[j + 8].v = _mm512_shuffle_f32x4(even_low, even_high, 0xDD);
    rows[j + 12].v = _mm512_shuffle_f32x4(odd_low, odd_high, 0xDD);
  }
}

// Sixteen signed integers, and sixteen f16.
MT_INLINE F32x16 to_float(U32x16 x) { return {_mm512_cvtepi32_ps(x.v)}; }
MT_INLINE F32x16 load_halves(const void* f16) {
  return {_mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(f16)))};
}
// Multiply-add with one rounding, on every table.
MT_INLINE F32x16 fma_once(F32x16 a, F32x16 b, F32x16 c) { return fma(a, b, c); }

#if defined(__AVX512VNNI__)
// Products of bytes in quads of k: weights as u8 in [0, 255], x in [-127, 127] as signed bytes.
constexpr int kQuadsTakeAway = 0;  // from the bytes of weights
constexpr int kQuadWords = 1;
struct Quads {
  __m512i bytes;
};
struct QuadInput {
  __m512i bytes;
};
MT_INLINE Quads quads_of(U32x16 bytes) { return {bytes.v}; }
MT_INLINE QuadInput broadcast_quad(const std::uint32_t* x) { return {_mm512_set1_epi32(static_cast<int>(*x))}; }
MT_INLINE U32x16 dot_quads(U32x16 sum, const Quads& w, const QuadInput& x) {
  return {_mm512_dpbusd_epi32(sum.v, w.bytes, x.bytes)};
}
// Four quads of x from 16 integers.
MT_INLINE void store_quads(std::uint32_t* out, U32x16 x) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm512_cvtepi32_epi8(x.v));
}
#else
// The same without vpdpbusd: x widened to 16 bits, elements 0 and 2 of a quad beside each other in one word, 1 and 3 in
// the next. vpmaddwd is exact on them, where vpmaddubsw would saturate.
constexpr int kQuadsTakeAway = 0;  // from the bytes of weights
constexpr int kQuadWords = 2;
struct Quads {
  __m512i even, odd;
};
struct QuadInput {
  __m512i even, odd;
};
MT_INLINE Quads quads_of(U32x16 bytes) {
  return {_mm512_and_si512(bytes.v, _mm512_set1_epi16(0xFF)), _mm512_srli_epi16(bytes.v, 8)};
}
MT_INLINE QuadInput broadcast_quad(const std::uint32_t* x) {
  return {_mm512_set1_epi32(static_cast<int>(x[0])), _mm512_set1_epi32(static_cast<int>(x[1]))};
}
MT_INLINE U32x16 dot_quads(U32x16 sum, const Quads& w, const QuadInput& x) {
  const __m512i even = _mm512_add_epi32(sum.v, _mm512_madd_epi16(w.even, x.even));
  return {_mm512_add_epi32(even, _mm512_madd_epi16(w.odd, x.odd))};
}
// Four quads of x from 16 integers.
MT_INLINE void store_quads(std::uint32_t* out, U32x16 x) {
  const __m512i first = _mm512_and_si512(x.v, _mm512_set1_epi32(0xFFFF));
  const __m512i second = _mm512_slli_epi32(_mm512_bsrli_epi128(x.v, 8), 16);
  const __m512i quads = _mm512_maskz_compress_epi64(0x55, _mm512_or_si512(first, second));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_castsi512_si256(quads));
}
#endif

}  // namespace
}  // namespace minitorch::kernels::avx512
