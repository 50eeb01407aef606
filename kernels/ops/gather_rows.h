// gather_rows: embedding lookup out of a packed matrix (a tied embedding is the packed head itself).
#pragma once

#include <cstdint>

#include "kernels/packed_matrix.h"

namespace minitorch::kernels {

// out[i, :] = table[ids[i], :] widened to f32, for int8 q * scale. Exact. ids lie in [0, table.rows); the caller
// checks.
struct GatherRowsArgs {
  PackedView table;                   // [V, C]
  const std::int32_t* ids = nullptr;  // [M]
  std::int64_t rows = 0;              // M
  float* out = nullptr;               // [M, C]
  std::int64_t out_stride = 0;
};

}  // namespace minitorch::kernels
