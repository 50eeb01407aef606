// The loops of a kernel over strided operands: dimensions sorted and merged, so that most layouts become few long
// lines.
#pragma once

#include <cstdint>

#include "kernels/ops/copy.h"

namespace minitorch::kernels {

inline constexpr int kMaxOperands = 4;

// `lines` of `length` elements each, length > 0. Line number `line` of operand i begins at element offset_of(i, line)
// and goes on in steps of steps[i].
struct StridedLoops {
  int dims = 0;  // outer ones, the last runs fastest
  std::int64_t shape[kMaxDims] = {};
  std::int64_t strides[kMaxOperands][kMaxDims] = {};
  std::int64_t lines = 1;
  std::int64_t length = 1;
  std::int64_t steps[kMaxOperands] = {};
};

// One line per element of the shape's outer part; no lines when the shape is empty. `strides` holds `operands` arrays.
// With `sort`, dimensions go by falling stride of operand 0 (the one that is written), else they keep their order.
StridedLoops make_loops(int dims, const std::int64_t* shape, const std::int64_t* const* strides, int operands,
                        bool sort);

// Elements from the beginning of operand `operand` to that of its line `line`.
std::int64_t offset_of(const StridedLoops& loops, int operand, std::int64_t line);

}  // namespace minitorch::kernels
