// Reference layer_norm and its backward: statistics and sums in double.
#include <cmath>  // std::sqrt
#include <vector>

#include "kernels/reference/reference.h"

namespace minitorch::kernels::reference {

void layer_norm(const Context&, const LayerNormArgs& args) {
  const auto count = static_cast<double>(args.cols);
  for (std::int64_t m = 0; m < args.rows; ++m) {
    const float* x = args.x + m * args.x_stride;
    float* y = args.y + m * args.y_stride;
    double sum = 0.0;
    for (std::int64_t c = 0; c < args.cols; ++c) sum += x[c];
    const double mean = sum / count;  // divided once: exact for equal elements
    double variance = 0.0;
    for (std::int64_t c = 0; c < args.cols; ++c) variance += (x[c] - mean) * (x[c] - mean) / count;
    const double inverse = 1.0 / std::sqrt(variance + static_cast<double>(args.eps));
    for (std::int64_t c = 0; c < args.cols; ++c) {
      const double bias = args.bias != nullptr ? args.bias[c] : 0.0;
      y[c] = static_cast<float>((x[c] - mean) * inverse * args.weight[c] + bias);
    }
    if (args.mean != nullptr) args.mean[m] = static_cast<float>(mean);
    if (args.inverse_deviation != nullptr) args.inverse_deviation[m] = static_cast<float>(inverse);
  }
}

void layer_norm_backward(const Context&, const LayerNormBackwardArgs& args) {
  const auto count = static_cast<double>(args.cols);
  std::vector<double> dweight(static_cast<std::size_t>(args.cols));
  std::vector<double> dbias(dweight.size());
  for (std::int64_t m = 0; m < args.rows; ++m) {
    const float* x = args.x + m * args.x_stride;
    const float* dy = args.dy + m * args.dy_stride;
    const double mean = args.mean[m];
    const double inverse = args.inverse_deviation[m];
    double sum = 0.0;    // of g = dy weight
    double along = 0.0;  // of g times the normalised x
    for (std::int64_t c = 0; c < args.cols; ++c) {
      const double normal = (x[c] - mean) * inverse;
      sum += static_cast<double>(dy[c]) * args.weight[c];
      along += static_cast<double>(dy[c]) * args.weight[c] * normal;
      dweight[c] += dy[c] * normal;
      dbias[c] += dy[c];
    }
    for (std::int64_t c = 0; args.dx != nullptr && c < args.cols; ++c) {
      const double normal = (x[c] - mean) * inverse;
      const double g = static_cast<double>(dy[c]) * args.weight[c];
      args.dx[m * args.dx_stride + c] = static_cast<float>(inverse * (g - sum / count - normal * along / count));
    }
  }
  for (std::int64_t c = 0; c < args.cols; ++c) {
    if (args.dweight != nullptr) args.dweight[c] = static_cast<float>(dweight[c]);
    if (args.dbias != nullptr) args.dbias[c] = static_cast<float>(dbias[c]);
  }
}

}  // namespace minitorch::kernels::reference
