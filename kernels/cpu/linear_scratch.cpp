// Sizes of linear with int8 or int4 weights, and its scratch memory.
#include "kernels/cpu/linear_scratch.h"

#include <algorithm>

#include "minitorch/base/check.h"

namespace minitorch::kernels {

QuantShape quant_shape(PackedFormat format, std::int64_t cols) {
  return {.groups = (cols + kGroupCols - 1) / kGroupCols,
          .panel_stride = panel_bytes(format, cols),
          .scales_offset = kernels::scales_offset(format, cols)};
}

std::size_t linear_scratch_bytes(const LinearArgs& args, int /*num_threads*/) {
  if (!is_quantised(args.weight.format)) return 0;
  return static_cast<std::size_t>(std::min(args.rows, kQuantRows) *
                                  quant_shape(args.weight.format, args.weight.cols).groups * kQuantGroupBytes);
}

std::byte* linear_scratch(const Context& context, const LinearArgs& args) {
  const std::size_t needed = linear_scratch_bytes(args, context.pool.size());
  MT_CHECK(context.scratch.size() >= needed, "linear: expected {} bytes of scratch memory, got {}", needed,
           context.scratch.size());
  return context.scratch.data();
}

}  // namespace minitorch::kernels
