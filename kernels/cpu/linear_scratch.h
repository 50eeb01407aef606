// Sizes and scratch memory of linear: quantised rows of x for int8 and int4 weights, packed ones for f32 and bf16.
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

// f32 and bf16 weights: rows whose packed form is held at once, bytes of accumulators that a thread keeps waiting,
// bytes of weights that stay in the first-level cache, and elements of x from which packing is shared out.
inline constexpr std::int64_t kPassRows = 256;
inline constexpr std::int64_t kWaitingBytes = 512 * 1024;
inline constexpr std::int64_t kPieceBytes = 32 * 1024;
inline constexpr std::int64_t kParallelPacking = 16 * 1024;

struct RowsScratch {
  float* packed;
  std::byte* waiting;  // kWaitingBytes for each thread
};
RowsScratch rows_scratch(const Context& context, const LinearArgs& args);

// The caller's scratch memory. Both throw Error when it is too small.
std::byte* linear_scratch(const Context& context, const LinearArgs& args);

}  // namespace minitorch::kernels
