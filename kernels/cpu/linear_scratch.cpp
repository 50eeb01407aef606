// Sizes of linear with int8 weights, and its scratch memory.
#include "kernels/cpu/linear_scratch.h"

#include <algorithm>

#include "minitorch/base/check.h"

namespace minitorch::kernels {

Int8Shape int8_shape(std::int64_t cols) {
  return {.groups = (cols + kGroupCols - 1) / kGroupCols,
          .panel_stride = panel_bytes(PackedFormat::kInt8, cols),
          .scales_offset = int8_scales_offset(cols)};
}

std::size_t linear_scratch_bytes(const LinearArgs& args, int /*num_threads*/) {
  if (args.weight.format != PackedFormat::kInt8) return 0;
  return static_cast<std::size_t>(std::min(args.rows, kInt8Rows) * int8_shape(args.weight.cols).groups *
                                  kInt8GroupBytes);
}

std::byte* linear_scratch(const Context& context, const LinearArgs& args) {
  const std::size_t needed = linear_scratch_bytes(args, context.pool.size());
  MT_CHECK(context.scratch.size() >= needed, "linear: expected {} bytes of scratch memory, got {}", needed,
           context.scratch.size());
  return context.scratch.data();
}

}  // namespace minitorch::kernels
