// Sizes and scratch memory of linear.
#include "kernels/cpu/linear_scratch.h"

#include <algorithm>

#include "minitorch/base/check.h"

namespace minitorch::kernels {

QuantShape quant_shape(PackedFormat format, std::int64_t cols) {
  return {.groups = (cols + kGroupCols - 1) / kGroupCols,
          .panel_stride = panel_bytes(format, cols),
          .scales_offset = kernels::scales_offset(format, cols)};
}

namespace {

// Every table takes this many rows in one tile, without packing them.
constexpr std::int64_t kRowsOfEveryTile = 3;

std::int64_t packed_x_bytes(const LinearArgs& args) {
  return (std::min(args.rows, kPassRows) * args.weight.cols * static_cast<std::int64_t>(sizeof(float)) + 63) / 64 * 64;
}

}  // namespace

std::size_t linear_scratch_bytes(const LinearArgs& args, int num_threads) {
  if (!is_quantised(args.weight.format)) {
    if (args.rows <= kRowsOfEveryTile) return 0;
    return static_cast<std::size_t>(packed_x_bytes(args) + num_threads * kWaitingBytes);
  }
  return static_cast<std::size_t>(std::min(args.rows, kQuantRows) *
                                  quant_shape(args.weight.format, args.weight.cols).groups * kQuantGroupBytes);
}

std::byte* linear_scratch(const Context& context, const LinearArgs& args) {
  const std::size_t needed = linear_scratch_bytes(args, context.pool.size());
  MT_CHECK(context.scratch.size() >= needed, "linear: expected {} bytes of scratch memory, got {}", needed,
           context.scratch.size());
  return context.scratch.data();
}

RowsScratch rows_scratch(const Context& context, const LinearArgs& args) {
  std::byte* memory = linear_scratch(context, args);
  return {reinterpret_cast<float*>(memory), memory + packed_x_bytes(args)};
}

}  // namespace minitorch::kernels
