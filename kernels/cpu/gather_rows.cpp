// gather_rows: one lane of a panel, k by k.
#include <algorithm>

#include "kernels/cpu/parallel.h"
#include "kernels/cpu/portable.h"
#include "minitorch/base/float16.h"

namespace minitorch::kernels::portable {
namespace {

constexpr std::int64_t kParallelElements = 16 * 1024;

const Float16* scales_of(PackedFormat format, std::int64_t cols, const std::byte* panel, std::int64_t lane) {
  return reinterpret_cast<const Float16*>(panel + scales_offset(format, cols)) + lane;
}

void gather_int8_row(std::int64_t cols, const std::byte* panel, std::int64_t lane, float* out) {
  const Float16* scales = scales_of(PackedFormat::kInt8, cols, panel, lane);
  const std::byte* quads = panel + 4 * lane;
  for (std::int64_t begin = 0; begin < cols; begin += kGroupCols) {
    const float scale = to_float(scales[begin / kGroupCols * kPanelWidth]);
    const std::int64_t end = std::min(begin + kGroupCols, cols);
    for (std::int64_t c = begin; c < end; ++c) {
      const int quant = std::to_integer<int>(quads[c / 4 * 4 * kPanelWidth + c % 4]) - kInt8Offset;
      out[c] = static_cast<float>(quant) * scale;
    }
  }
}

void gather_int4_row(std::int64_t cols, const std::byte* panel, std::int64_t lane, float* out) {
  const Float16* scales = scales_of(PackedFormat::kInt4, cols, panel, lane);
  const std::byte* octets = panel + 4 * lane;
  for (std::int64_t c = 0; c < cols; ++c) {
    const auto both = std::to_integer<int>(octets[c / 8 * 4 * kPanelWidth + c % 4]);
    const int quant = (c % 8 < 4 ? both & 15 : both >> 4) - kInt4Offset;
    out[c] = static_cast<float>(quant) * to_float(scales[c / kGroupCols * kPanelWidth]);
  }
}

void gather_row(const PackedView& table, std::int64_t row, float* out) {
  const std::byte* panel = table.panels + row / kPanelWidth * panel_bytes(table.format, table.cols);
  const std::int64_t lane = row % kPanelWidth;
  switch (table.format) {
    case PackedFormat::kF32: {
      const auto* weights = reinterpret_cast<const float*>(panel) + lane;
      for (std::int64_t c = 0; c < table.cols; ++c) out[c] = weights[c * kPanelWidth];
      return;
    }
    case PackedFormat::kBF16: {
      const auto* pairs = reinterpret_cast<const BFloat16*>(panel) + 2 * lane;
      for (std::int64_t c = 0; c < table.cols; ++c) out[c] = to_float(pairs[c / 2 * 2 * kPanelWidth + c % 2]);
      return;
    }
    case PackedFormat::kInt8: return gather_int8_row(table.cols, panel, lane, out);
    case PackedFormat::kInt4: return gather_int4_row(table.cols, panel, lane, out);
  }
}

}  // namespace

void gather_rows(const Context& context, const GatherRowsArgs& args) {
  const auto gather = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) gather_row(args.table, args.ids[i], args.out + i * args.out_stride);
  };
  if (args.rows * args.table.cols < kParallelElements) return gather(0, args.rows);
  context.pool.run([&](int worker, int count) {
    const Range part = part_of(args.rows, worker, count);
    gather(part.begin, part.end);
  });
}

}  // namespace minitorch::kernels::portable
