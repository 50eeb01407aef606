// rope: rotary position embedding in half-split form (Su et al. 2021; the pairing of the Hugging Face checkpoints).
#pragma once

#include <cstdint>

namespace minitorch::kernels {

// In place on x [M, heads, D]: for d < D/2, with c = cos[m, d], s = sin[m, d]:
//   (x[d], x[d + D/2]) <- (x[d] c - x[d + D/2] s,  x[d + D/2] c + x[d] s)
// Heads of one row are contiguous; rows are x_stride apart. Every product and sum is rounded on its own (no FMA),
// so all tables agree bit for bit.
struct RopeArgs {
  float* x = nullptr;
  std::int64_t x_stride = 0;
  const float* cos = nullptr;  // [M, D/2]
  const float* sin = nullptr;  // [M, D/2]
  std::int64_t rows = 0;       // M
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;  // D, even
};

}  // namespace minitorch::kernels
