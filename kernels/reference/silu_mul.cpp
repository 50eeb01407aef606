// Reference silu_mul: in double.
#include <cmath>  // std::exp

#include "kernels/reference/reference.h"

namespace minitorch::kernels::reference {

void silu_mul(const Context&, const SiluMulArgs& args) {
  for (std::int64_t m = 0; m < args.rows; ++m) {
    for (std::int64_t c = 0; c < args.cols; ++c) {
      const double gate = args.gate[m * args.gate_stride + c];
      const double up = args.up[m * args.up_stride + c];
      args.out[m * args.out_stride + c] = static_cast<float>(gate / (1.0 + std::exp(-gate)) * up);
    }
  }
}

}  // namespace minitorch::kernels::reference
