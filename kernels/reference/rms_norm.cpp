// Reference rms_norm and its backward: statistics and sums in double.
#include <cmath>  // std::sqrt
#include <vector>

#include "kernels/reference/reference.h"

namespace minitorch::kernels::reference {
namespace {

// 1 / sqrt(mean(x^2) + eps)
double inverse_rms(const float* x, std::int64_t cols, float eps) {
  double sum = 0.0;
  for (std::int64_t c = 0; c < cols; ++c) sum += static_cast<double>(x[c]) * x[c];
  return 1.0 / std::sqrt(sum / static_cast<double>(cols) + static_cast<double>(eps));
}

}  // namespace

void rms_norm(const Context&, const RmsNormArgs& args) {
  for (std::int64_t m = 0; m < args.rows; ++m) {
    const float* x = args.x + m * args.x_stride;
    float* y = args.y + m * args.y_stride;
    const double inverse = inverse_rms(x, args.cols, args.eps);
    for (std::int64_t c = 0; c < args.cols; ++c) y[c] = static_cast<float>(x[c] * inverse * args.weight[c]);
  }
}

void rms_norm_backward(const Context&, const RmsNormBackwardArgs& args) {
  std::vector<double> dweight(static_cast<std::size_t>(args.cols));
  for (std::int64_t m = 0; m < args.rows; ++m) {
    const float* x = args.x + m * args.x_stride;
    const float* dy = args.dy + m * args.dy_stride;
    const double inverse = inverse_rms(x, args.cols, args.eps);
    double along = 0.0;  // the sum of dy weight x
    for (std::int64_t c = 0; c < args.cols; ++c) {
      along += static_cast<double>(dy[c]) * args.weight[c] * x[c];
      dweight[c] += dy[c] * inverse * x[c];
    }
    const double share = inverse * inverse * along / static_cast<double>(args.cols);
    for (std::int64_t c = 0; args.dx != nullptr && c < args.cols; ++c) {
      const double g = static_cast<double>(dy[c]) * args.weight[c];
      args.dx[m * args.dx_stride + c] = static_cast<float>(inverse * (g - x[c] * share));
    }
  }
  for (std::int64_t c = 0; args.dweight != nullptr && c < args.cols; ++c) {
    args.dweight[c] = static_cast<float>(dweight[c]);
  }
}

}  // namespace minitorch::kernels::reference
