// The panel layout of inference weights, one for every instruction set, device and file.
//
// A weight matrix W[rows = outputs N, cols = inputs K] is stored as panels of 16 outputs. Within a panel k runs
// outermost, so that one vector load yields the weights of 16 outputs for one k and one pass reads memory in order:
//   f32   panel[k][16]
//   bf16  panel[k / 2][16][2]   pairs of k side by side, the operand form of the bf16 dot-product instructions
// A ragged last panel or an odd last k is padded with zeros.
#pragma once

#include <cstddef>
#include <cstdint>

#include "minitorch/base/dtype.h"

namespace minitorch::kernels {

enum class PackedFormat : std::uint8_t { kF32, kBF16 };

inline constexpr int kPanelWidth = 16;

// A packed matrix by pointer; the owner is minitorch::PackedMatrix.
struct PackedView {
  PackedFormat format = PackedFormat::kF32;
  std::int64_t rows = 0;        // N, outputs
  std::int64_t cols = 0;        // K, inputs
  std::byte* panels = nullptr;  // 64-byte aligned, packed_bytes(format, rows, cols) long
};

constexpr std::int64_t num_panels(std::int64_t rows) { return (rows + kPanelWidth - 1) / kPanelWidth; }

// Bytes of one panel of 16 outputs.
constexpr std::int64_t panel_bytes(PackedFormat format, std::int64_t cols) {
  switch (format) {
    case PackedFormat::kF32: return cols * kPanelWidth * 4;
    case PackedFormat::kBF16: return (cols + 1) / 2 * kPanelWidth * 4;
  }
  return 0;
}

constexpr std::int64_t packed_bytes(PackedFormat format, std::int64_t rows, std::int64_t cols) {
  return num_panels(rows) * panel_bytes(format, cols);
}

// Packs `count` rows of a row-major matrix [count, cols] of dtype f32, f16 or bf16 into rows [row_begin, row_begin +
// count) of `destination`, whose memory was zeroed before the first call. f32 -> bf16 rounds to nearest even.
void pack_rows(const PackedView& destination, std::int64_t row_begin, std::int64_t count, const void* source,
               DType source_dtype);

}  // namespace minitorch::kernels
