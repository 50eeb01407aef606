// Reference rope: in f32, every product and sum rounded on its own, as the contract says.
#include "kernels/reference/reference.h"

namespace minitorch::kernels::reference {

void rope(const Context&, const RopeArgs& args) {
  const std::int64_t half = args.head_dim / 2;
  for (std::int64_t m = 0; m < args.rows; ++m) {
    for (std::int64_t h = 0; h < args.heads; ++h) {
      float* x = args.x + m * args.x_stride + h * args.head_dim;
      for (std::int64_t d = 0; d < half; ++d) {
        const float cos = args.cos[m * half + d];
        const float sin = args.sin[m * half + d];
        const float low = x[d];
        const float high = x[d + half];
        x[d] = low * cos - high * sin;
        x[d + half] = high * cos + low * sin;
      }
    }
  }
}

}  // namespace minitorch::kernels::reference
