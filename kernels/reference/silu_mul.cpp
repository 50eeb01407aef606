// Reference silu_mul and its backward: in double.
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

void silu_mul_backward(const Context&, const SiluMulBackwardArgs& args) {
  for (std::int64_t m = 0; m < args.rows; ++m) {
    for (std::int64_t c = 0; c < args.cols; ++c) {
      const double gate = args.gate[m * args.gate_stride + c];
      const double up = args.up[m * args.up_stride + c];
      const double dout = args.dout[m * args.dout_stride + c];
      const double sigmoid = 1.0 / (1.0 + std::exp(-gate));
      args.dgate[m * args.dgate_stride + c] = static_cast<float>(dout * up * sigmoid * (1.0 + gate * (1.0 - sigmoid)));
      args.dup[m * args.dup_stride + c] = static_cast<float>(dout * gate * sigmoid);
    }
  }
}

}  // namespace minitorch::kernels::reference
