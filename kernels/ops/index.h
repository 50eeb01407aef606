// Indexed reads and sums: rows of a table (embedding and its gradient), and elements along one dimension.
#pragma once

#include <cstdint>

#include "minitorch/base/dtype.h"

namespace minitorch::kernels {

// out[m] = table[ids[m]] for rows of C elements; f32 or f64. ids are in [0, table rows), checked by the caller.
struct IndexRowsArgs {
  DType dtype = DType::kF32;
  const void* table = nullptr;
  std::int64_t table_stride = 0;
  const std::int32_t* ids = nullptr;
  void* out = nullptr;
  std::int64_t out_stride = 0;
  std::int64_t rows = 0;  // M
  std::int64_t cols = 0;  // C
};

// table[ids[m]] += x[m] for m = 0 .. M-1, in that order whatever the threads.
struct AddRowsArgs {
  DType dtype = DType::kF32;
  void* table = nullptr;
  std::int64_t table_stride = 0;
  const std::int32_t* ids = nullptr;
  const void* x = nullptr;
  std::int64_t x_stride = 0;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};

// Over contiguous x [outer, extent, inner] and index, out [outer, picks, inner]:
//   out[o, p, i] = x[o, index[o, p, i], i];     indices in [0, extent), checked by the caller.
struct GatherArgs {
  DType dtype = DType::kF32;
  const void* x = nullptr;
  const std::int64_t* index = nullptr;
  void* out = nullptr;
  std::int64_t outer = 0, extent = 0, picks = 0, inner = 0;
};

// The other way: target[o, index[o, p, i], i] += x[o, p, i], with p ascending whatever the threads.
struct ScatterAddArgs {
  DType dtype = DType::kF32;
  const void* x = nullptr;
  const std::int64_t* index = nullptr;
  void* target = nullptr;
  std::int64_t outer = 0, extent = 0, picks = 0, inner = 0;
};

}  // namespace minitorch::kernels
