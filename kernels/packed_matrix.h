// The panel layout of inference weights, one for every instruction set, device and file.
//
// A weight matrix W[rows = outputs N, cols = inputs K] is stored as panels of 16 outputs. Within a panel k runs
// outermost, so that one vector load yields the weights of 16 outputs for one k and one pass reads memory in order:
//   f32   panel[k][16]
//   bf16  panel[k / 2][16][2]   pairs of k side by side, the operand form of the bf16 dot-product instructions
//   int8  panel[k / 4][16][4]   quads of k side by side, as bytes q + 128, the operand form of vpdpbusd; behind all of
//         them the scales as f16 [k / 32][16]; the panel is rounded up to 64 bytes
//   int4  panel[k / 8][16][4]   octets of k as nibbles q + 8: byte i holds k + i (low) and k + 4 + i (high), so that a
//         mask yields two vectors of quads; scales and rounding as in int8
// A ragged last panel or an odd last k is padded with zeros: in quants q = 0 (byte 128, nibble 8), in scales 0.
//
// int8 is symmetric with one scale for every output and group of 32 k (the last group may be shorter):
//   W[n, k] = q * scale, q in [-127, 127], scale = max|w| / 127 rounded to the nearest f16, q = w / scale rounded to
//   nearest, ties to even.
// Where the nearest f16 is so much smaller that the largest weight would not fit (a subnormal one), the next larger f16
// is taken. A group of zeros has scale 0. That is 8.5 bits per weight.
//
// int4 has one f16 scale for every output and group of 32 k as well, of either sign: W[n, k] = q * scale, q in [-8, 7].
// The extreme weight is put at 6.5, 7, 7.5, ... or 9.5 steps of the scale on the side of -8, which reaches further than
// 7, hence the sign; the others are rounded to the nearest quant. For the quants of each choice the best scale is that
// of least squares; the choice with the smallest squared error is taken. That is 4.5 bits per weight.
#pragma once

#include <cstddef>
#include <cstdint>

#include "minitorch/base/dtype.h"

namespace minitorch::kernels {

enum class PackedFormat : std::uint8_t { kF32, kBF16, kInt8, kInt4 };

inline constexpr int kPanelWidth = 16;
inline constexpr int kGroupCols = 32;    // of int8 and int4: k that share a scale
inline constexpr int kInt8Offset = 128;  // what the bytes of an int8 panel are above q
inline constexpr int kInt4Offset = 8;    // what the nibbles of an int4 panel are above q

// A packed matrix by pointer; the owner is minitorch::PackedMatrix.
struct PackedView {
  PackedFormat format = PackedFormat::kF32;
  std::int64_t rows = 0;        // N, outputs
  std::int64_t cols = 0;        // K, inputs
  std::byte* panels = nullptr;  // 64-byte aligned, packed_bytes(format, rows, cols) long
};

constexpr std::int64_t num_panels(std::int64_t rows) { return (rows + kPanelWidth - 1) / kPanelWidth; }

constexpr bool is_quantised(PackedFormat format) {
  return format == PackedFormat::kInt8 || format == PackedFormat::kInt4;
}

// Where the scales of an int8 or int4 panel begin, in bytes.
constexpr std::int64_t scales_offset(PackedFormat format, std::int64_t cols) {
  const std::int64_t step = format == PackedFormat::kInt4 ? 8 : 4;  // k of one vector of quants
  return (cols + step - 1) / step * kPanelWidth * 4;
}

// Bytes of one panel of 16 outputs.
constexpr std::int64_t panel_bytes(PackedFormat format, std::int64_t cols) {
  switch (format) {
    case PackedFormat::kF32: return cols * kPanelWidth * 4;
    case PackedFormat::kBF16: return (cols + 1) / 2 * kPanelWidth * 4;
    case PackedFormat::kInt8:
    case PackedFormat::kInt4: {
      const std::int64_t scales = (cols + kGroupCols - 1) / kGroupCols * kPanelWidth * 2;
      return (scales_offset(format, cols) + scales + 63) / 64 * 64;
    }
  }
  return 0;
}

constexpr std::int64_t packed_bytes(PackedFormat format, std::int64_t rows, std::int64_t cols) {
  return num_panels(rows) * panel_bytes(format, cols);
}

// Packs `count` rows of a row-major matrix [count, cols] of dtype f32, f16 or bf16 into rows [row_begin, row_begin +
// count) of `destination`, whose memory was zeroed before the first call. f32 -> bf16 rounds to nearest even. int8 and
// int4 throw Error for weights that are not finite or whose scale may be beyond f16 (magnitudes above 8.3 million, for
// int4 above 262,016).
void pack_rows(const PackedView& destination, std::int64_t row_begin, std::int64_t count, const void* source,
               DType source_dtype);

}  // namespace minitorch::kernels
