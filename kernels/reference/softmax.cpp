// Reference softmax and log_softmax with their backward: in double.
#include <cmath>  // std::exp

#include "kernels/reference/log_sum.h"
#include "kernels/reference/reference.h"

namespace minitorch::kernels::reference {

void softmax(const Context&, const SoftmaxArgs& args) {
  for (std::int64_t m = 0; m < args.rows; ++m) {
    const float* x = args.x + m * args.x_stride;
    float* y = args.y + m * args.y_stride;
    const LogSum row = log_sum_exp(x, args.cols);
    for (std::int64_t c = 0; c < args.cols; ++c) {
      const double log_y = x[c] - row.max - row.log_sum;
      y[c] = static_cast<float>(args.log ? log_y : std::exp(log_y));
    }
  }
}

void softmax_backward(const Context&, const SoftmaxBackwardArgs& args) {
  for (std::int64_t m = 0; m < args.rows; ++m) {
    const float* y = args.y + m * args.y_stride;
    const float* dy = args.dy + m * args.dy_stride;
    float* dx = args.dx + m * args.dx_stride;
    double sum = 0.0;
    for (std::int64_t c = 0; c < args.cols; ++c) sum += args.log ? dy[c] : static_cast<double>(dy[c]) * y[c];
    for (std::int64_t c = 0; c < args.cols; ++c) {
      const double value = y[c];
      dx[c] = static_cast<float>(args.log ? dy[c] - std::exp(value) * sum : value * (dy[c] - sum));
    }
  }
}

}  // namespace minitorch::kernels::reference
