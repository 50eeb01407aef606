// Walks through strided arrays, index by index in row-major order.
#pragma once

#include "kernels/ops/copy.h"

namespace minitorch::kernels::reference {

inline std::int64_t offset_of(const std::int64_t* index, const std::int64_t* strides, int dims) {
  std::int64_t offset = 0;
  for (int dim = 0; dim < dims; ++dim) offset += index[dim] * strides[dim];
  return offset;
}

// Calls visit(index) for every index of the shape; once for no dimensions.
template <typename Visit>
void for_each_index(const std::int64_t* shape, int dims, const Visit& visit) {
  for (int dim = 0; dim < dims; ++dim) {
    if (shape[dim] == 0) return;
  }
  std::int64_t index[kMaxDims] = {};
  for (;;) {
    visit(index);
    int dim = dims - 1;
    while (dim >= 0 && ++index[dim] == shape[dim]) index[dim--] = 0;
    if (dim < 0) return;
  }
}

}  // namespace minitorch::kernels::reference
