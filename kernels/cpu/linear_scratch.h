// Sizes of linear with int8 or int4 weights, and its scratch memory.
//
// Plain functions, not templates, as in parallel.h.
#pragma once

#include <cstdint>

#include "kernels/context.h"
#include "kernels/ops/linear.h"

namespace minitorch::kernels {

// Rows whose quantised form is held at once; a multiple of every table's tile. More rows come in several passes.
inline constexpr std::int64_t kQuantRows = 192;
// Bytes of one quantised group of x: 32 values as 16 bits (a table with vpdpbusd needs half), a scale and a start.
inline constexpr std::int64_t kQuantGroupBytes = 72;

struct QuantShape {
  std::int64_t groups;         // of 32 k, the last one may be shorter
  std::int64_t panel_stride;   // bytes
  std::int64_t scales_offset;  // bytes from the beginning of a panel
};
QuantShape quant_shape(PackedFormat format, std::int64_t cols);

// The caller's scratch memory. Throws Error when it is too small.
std::byte* linear_scratch(const Context& context, const LinearArgs& args);

}  // namespace minitorch::kernels
