// matmul: batched products of strided matrices, for training (inference multiplies packed weights: linear).
#pragma once

#include <cstddef>
#include <cstdint>

#include "minitorch/base/dtype.h"

namespace minitorch::kernels {

// For every batch i: C_i [M, N] = A_i [M, K] B_i [K, N], or C_i += with `accumulate`; all of `dtype`, f32 or f64.
// Element (m, k) of A_i lies at a + i * a_batch + m * a_row + k * a_col; B likewise with (k, n); rows of C are
// contiguous and c_row apart. So transposed operands cost nothing. C overlaps neither A nor B.
// Numerics: every output has one accumulator that walks k = 0 .. K-1 in order with fused multiply-add (so that it does
// not depend on M, N, batch or threads, exactness rule E1, and equals `linear` bit for bit); with `accumulate` it
// starts from C. Tables without fused multiply-add round twice. K = 0 gives zeros (or leaves C). Tolerance against
// `reference` (double): 2^-24 (f64: 2^-53) * (K + 1) * sum_k |a_k b_k|.
struct MatmulArgs {
  DType dtype = DType::kF32;
  std::int64_t batches = 1;
  std::int64_t rows = 0;   // M
  std::int64_t cols = 0;   // N
  std::int64_t inner = 0;  // K
  const void* a = nullptr;
  std::int64_t a_batch = 0, a_row = 0, a_col = 0;
  const void* b = nullptr;
  std::int64_t b_batch = 0, b_row = 0, b_col = 0;
  void* c = nullptr;
  std::int64_t c_batch = 0, c_row = 0;
  bool accumulate = false;
};

// Scratch for packed copies of A and B. Every table works with this much.
[[nodiscard]] std::size_t matmul_scratch_bytes(const MatmulArgs& args, int num_threads);

}  // namespace minitorch::kernels
