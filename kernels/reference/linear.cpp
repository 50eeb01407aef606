// Reference linear: one double sum per output.
#include "kernels/reference/elements.h"
#include "kernels/reference/reference.h"

namespace minitorch::kernels::reference {

void linear(const Context&, const LinearArgs& args) {
  for (std::int64_t m = 0; m < args.rows; ++m) {
    const float* x = args.x + m * args.x_stride;
    for (std::int64_t n = 0; n < args.weight.rows; ++n) {
      double sum = 0.0;
      for (std::int64_t k = 0; k < args.weight.cols; ++k)
        sum += static_cast<double>(x[k]) * weight_at(args.weight, n, k);
      if (args.bias != nullptr) sum += args.bias[n];
      if (args.residual != nullptr) sum += args.residual[m * args.residual_stride + n];
      args.y[m * args.y_stride + n] = static_cast<float>(sum);
    }
  }
}

}  // namespace minitorch::kernels::reference
