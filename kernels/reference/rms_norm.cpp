// Reference rms_norm: mean of squares in double.
#include <cmath>  // std::sqrt

#include "kernels/reference/reference.h"

namespace minitorch::kernels::reference {

void rms_norm(const Context&, const RmsNormArgs& args) {
  for (std::int64_t m = 0; m < args.rows; ++m) {
    const float* x = args.x + m * args.x_stride;
    float* y = args.y + m * args.y_stride;
    double sum = 0.0;
    for (std::int64_t c = 0; c < args.cols; ++c) sum += static_cast<double>(x[c]) * x[c];
    const double inverse = 1.0 / std::sqrt(sum / static_cast<double>(args.cols) + static_cast<double>(args.eps));
    for (std::int64_t c = 0; c < args.cols; ++c) y[c] = static_cast<float>(x[c] * inverse * args.weight[c]);
  }
}

}  // namespace minitorch::kernels::reference
