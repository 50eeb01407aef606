// Packing of row-major weights into panels.
#include "kernels/packed_matrix.h"

#include <algorithm>
#include <bit>
#include <cmath>    // std::isfinite
#include <cstring>  // std::memcpy

#include "minitorch/base/check.h"
#include "minitorch/base/float16.h"

namespace minitorch::kernels {
namespace {

// Source columns handled at a time: their part of a panel (at most 4 KiB) stays in the first-level cache while the
// rows of the panel are written into it one after the other.
constexpr std::int64_t kBlock = 64;

// Element type of a panel <- element type of the source.
struct KeepF32 {
  using Source = float;
  using Element = float;
  static float convert(float value) { return value; }
};
struct WidenBF16 {
  using Source = BFloat16;
  using Element = float;
  static float convert(BFloat16 value) { return to_float(value); }
};
struct WidenF16 {
  using Source = Float16;
  using Element = float;
  static float convert(Float16 value) { return to_float(value); }
};
struct KeepBF16 {
  using Source = BFloat16;
  using Element = BFloat16;
  static BFloat16 convert(BFloat16 value) { return value; }
};
struct RoundF32 {
  using Source = float;
  using Element = BFloat16;
  static BFloat16 convert(float value) { return to_bfloat16(value); }
};
struct RoundF16 {
  using Source = Float16;
  using Element = BFloat16;
  static BFloat16 convert(Float16 value) { return to_bfloat16(to_float(value)); }
};

// Columns [begin, end) of one row into its lane of a panel. `begin` is a multiple of kBlock: no pair spans two blocks.
template <typename Convert>
void pack_lane(std::byte* panel, std::int64_t lane, const typename Convert::Source* row, std::int64_t begin,
               std::int64_t end) {
  using Element = typename Convert::Element;
  auto* out = reinterpret_cast<Element*>(panel);
  if constexpr (sizeof(Element) == 4) {
    for (std::int64_t k = begin; k < end; ++k) out[k * kPanelWidth + lane] = Convert::convert(row[k]);
  } else {
    for (std::int64_t k = begin; k < end; ++k) out[(k / 2 * kPanelWidth + lane) * 2 + k % 2] = Convert::convert(row[k]);
  }
}

template <typename Convert>
void pack(const PackedView& destination, std::int64_t row_begin, std::int64_t count, const void* source_rows) {
  const auto* source = static_cast<const typename Convert::Source*>(source_rows);
  const std::int64_t cols = destination.cols;
  const std::int64_t bytes = panel_bytes(destination.format, cols);
  for (std::int64_t row = row_begin; row < row_begin + count;) {
    const std::int64_t panel_end = std::min((row / kPanelWidth + 1) * kPanelWidth, row_begin + count);
    std::byte* panel = destination.panels + row / kPanelWidth * bytes;
    for (std::int64_t begin = 0; begin < cols; begin += kBlock) {
      const std::int64_t end = std::min(begin + kBlock, cols);
      for (std::int64_t r = row; r < panel_end; ++r) {
        pack_lane<Convert>(panel, r % kPanelWidth, source + (r - row_begin) * cols, begin, end);
      }
    }
    row = panel_end;
  }
}

// The scale of a group, by the rule of packed_matrix.h.
Float16 int8_scale(float largest, std::int64_t row, std::int64_t group) {
  Float16 scale = to_float16(largest / 127.0f);
  if (largest > 127.5f * to_float(scale)) ++scale.bits;
  MT_CHECK(
      std::isfinite(to_float(scale)),
      "pack_rows: expected weights for int8 to be finite and at most 127 * 65504, got {} in row {}, columns from {}",
      largest, row, group * kGroupCols);
  return scale;
}

// Adding this to a magnitude below 2^22 rounds it to the nearest integer, ties to even, in the low bits of the sum.
constexpr float kRounder = 0x1.8p23f;

// The group w of row `row` into its lane of a panel. Of a short group the first `count` values count, the rest are 0.
void pack_int8_group(std::byte* panel, std::int64_t cols, std::int64_t row, std::int64_t group,
                     const float (&w)[kGroupCols], std::int64_t count) {
  std::int32_t largest = 0;  // as bits, whose order is that of the magnitudes, with NaN above infinity
  for (const float value : w) largest = std::max(largest, std::bit_cast<std::int32_t>(value) & 0x7FFFFFFF);
  const Float16 scale = int8_scale(std::bit_cast<float>(largest), row, group);
  const std::int64_t lane = row % kPanelWidth;
  std::memcpy(panel + int8_scales_offset(cols) + (group * kPanelWidth + lane) * 2, &scale, sizeof(scale));

  const float divisor = scale.bits == 0 ? 1.0f : to_float(scale);
  std::uint8_t quants[kGroupCols];
  for (int i = 0; i < kGroupCols; ++i) {
    const auto rounded = static_cast<int>((w[i] / divisor + kRounder) - kRounder);
    quants[i] = static_cast<std::uint8_t>(std::max(-127, std::min(127, rounded)) + kInt8Offset);
  }
  for (std::int64_t i = 0; i < count; i += 4) {
    std::memcpy(panel + ((group * kGroupCols + i) / 4 * kPanelWidth + lane) * 4, quants + i, 4);
  }
}

// The lanes of the last panel that no row fills.
void fill_int8_padding(const PackedView& destination, std::byte* panel) {
  const std::int64_t used = (destination.rows - 1) % kPanelWidth + 1;
  for (std::int64_t quad = 0; quad < (destination.cols + 3) / 4; ++quad) {
    std::fill_n(panel + (quad * kPanelWidth + used) * 4, (kPanelWidth - used) * 4, std::byte{kInt8Offset});
  }
}

template <typename Widen>
void pack_int8(const PackedView& destination, std::int64_t row_begin, std::int64_t count, const void* source_rows) {
  const auto* source = static_cast<const typename Widen::Source*>(source_rows);
  const std::int64_t cols = destination.cols;
  for (std::int64_t row = row_begin; row < row_begin + count;) {
    const std::int64_t panel_end = std::min((row / kPanelWidth + 1) * kPanelWidth, row_begin + count);
    std::byte* panel = destination.panels + row / kPanelWidth * panel_bytes(PackedFormat::kInt8, cols);
    for (std::int64_t begin = 0; begin < cols; begin += kGroupCols) {
      const std::int64_t size = std::min<std::int64_t>(kGroupCols, cols - begin);
      for (std::int64_t r = row; r < panel_end; ++r) {
        float w[kGroupCols] = {};
        std::transform(source + (r - row_begin) * cols + begin, source + (r - row_begin) * cols + begin + size, w,
                       Widen::convert);
        pack_int8_group(panel, cols, r, begin / kGroupCols, w, size);
      }
    }
    if (panel_end == destination.rows) fill_int8_padding(destination, panel);
    row = panel_end;
  }
}

[[noreturn]] void refuse_source(DType dtype) {
  fail<DTypeError>("pack_rows: expected a source of dtype f32, f16 or bf16, got {}", name_of(dtype));
}

template <typename FromF32, typename FromF16, typename FromBF16>
void pack_from(const PackedView& destination, std::int64_t row_begin, std::int64_t count, const void* source,
               DType source_dtype) {
  if (source_dtype == DType::kF32) return pack<FromF32>(destination, row_begin, count, source);
  if (source_dtype == DType::kF16) return pack<FromF16>(destination, row_begin, count, source);
  if (source_dtype == DType::kBF16) return pack<FromBF16>(destination, row_begin, count, source);
  refuse_source(source_dtype);
}

void pack_int8_from(const PackedView& destination, std::int64_t row_begin, std::int64_t count, const void* source,
                    DType source_dtype) {
  if (source_dtype == DType::kF32) return pack_int8<KeepF32>(destination, row_begin, count, source);
  if (source_dtype == DType::kF16) return pack_int8<WidenF16>(destination, row_begin, count, source);
  if (source_dtype == DType::kBF16) return pack_int8<WidenBF16>(destination, row_begin, count, source);
  refuse_source(source_dtype);
}

}  // namespace

void pack_rows(const PackedView& destination, std::int64_t row_begin, std::int64_t count, const void* source,
               DType source_dtype) {
  MT_CHECK_AS(ShapeError, row_begin >= 0 && count >= 0 && row_begin + count <= destination.rows,
              "pack_rows: expected rows within a matrix of {} rows, got [{}, {})", destination.rows, row_begin,
              row_begin + count);
  switch (destination.format) {
    case PackedFormat::kF32:
      return pack_from<KeepF32, WidenF16, WidenBF16>(destination, row_begin, count, source, source_dtype);
    case PackedFormat::kBF16:
      return pack_from<RoundF32, RoundF16, KeepBF16>(destination, row_begin, count, source, source_dtype);
    case PackedFormat::kInt8: return pack_int8_from(destination, row_begin, count, source, source_dtype);
  }
}

}  // namespace minitorch::kernels
