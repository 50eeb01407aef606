// Packing of row-major weights into panels.
#include "kernels/packed_matrix.h"

#include <algorithm>

#include "kernels/quantise.h"
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

// The groups of rows [row_begin, row_begin + count), quantised.
template <typename Widen>
void pack_groups(const PackedView& destination, std::int64_t row_begin, std::int64_t count, const void* source_rows) {
  const auto* source = static_cast<const typename Widen::Source*>(source_rows);
  const std::int64_t cols = destination.cols;
  for (std::int64_t row = row_begin; row < row_begin + count;) {
    const std::int64_t panel_end = std::min((row / kPanelWidth + 1) * kPanelWidth, row_begin + count);
    std::byte* panel = destination.panels + row / kPanelWidth * panel_bytes(destination.format, cols);
    for (std::int64_t begin = 0; begin < cols; begin += kGroupCols) {
      const std::int64_t size = std::min<std::int64_t>(kGroupCols, cols - begin);
      for (std::int64_t r = row; r < panel_end; ++r) {
        float w[kGroupCols] = {};
        std::transform(source + (r - row_begin) * cols + begin, source + (r - row_begin) * cols + begin + size, w,
                       Widen::convert);
        pack_group(destination, r, begin / kGroupCols, w);
      }
    }
    if (panel_end == destination.rows) fill_lanes_without_rows(destination, panel);
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

void pack_groups_from(const PackedView& destination, std::int64_t row_begin, std::int64_t count, const void* source,
                      DType source_dtype) {
  if (source_dtype == DType::kF32) return pack_groups<KeepF32>(destination, row_begin, count, source);
  if (source_dtype == DType::kF16) return pack_groups<WidenF16>(destination, row_begin, count, source);
  if (source_dtype == DType::kBF16) return pack_groups<WidenBF16>(destination, row_begin, count, source);
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
    case PackedFormat::kInt8:
    case PackedFormat::kInt4: return pack_groups_from(destination, row_begin, count, source, source_dtype);
  }
}

}  // namespace minitorch::kernels
