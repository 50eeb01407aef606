// top_k: the k largest elements of each row in descending order; equal values by ascending index.
#pragma once

#include <cstdint>

namespace minitorch::kernels {

// x [M, V] f32; values and indices [M, k], 1 <= k <= V. Exact. NaN orders below everything.
struct TopKArgs {
  const float* x = nullptr;
  std::int64_t x_stride = 0;
  std::int64_t rows = 0;  // M
  std::int64_t cols = 0;  // V
  std::int64_t k = 0;
  float* values = nullptr;
  std::int32_t* indices = nullptr;
};

}  // namespace minitorch::kernels
