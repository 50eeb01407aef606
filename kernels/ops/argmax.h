// argmax: index of the largest element of each row; the lowest index wins ties.
#pragma once

#include <cstdint>

namespace minitorch::kernels {

// x [M, V] f32, out [M]. Exact. A row that holds a NaN gives kArgmaxNan; cols = 0 gives kArgmaxNan too. -0 equals +0.
struct ArgmaxArgs {
  const float* x = nullptr;
  std::int64_t x_stride = 0;
  std::int32_t* out = nullptr;
  std::int64_t rows = 0;  // M
  std::int64_t cols = 0;  // V
};

inline constexpr std::int32_t kArgmaxNan = -1;

}  // namespace minitorch::kernels
