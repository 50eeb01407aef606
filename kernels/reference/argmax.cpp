// Reference argmax: one pass, the first of equal values wins.
#include <cmath>  // std::isnan

#include "kernels/reference/reference.h"

namespace minitorch::kernels::reference {

void argmax(const Context&, const ArgmaxArgs& args) {
  for (std::int64_t m = 0; m < args.rows; ++m) {
    const float* x = args.x + m * args.x_stride;
    std::int64_t best = args.cols > 0 ? 0 : kArgmaxNan;
    for (std::int64_t c = 0; c < args.cols; ++c) {
      if (std::isnan(x[c])) {
        best = kArgmaxNan;
        break;
      }
      if (x[c] > x[best]) best = c;
    }
    args.out[m] = static_cast<std::int32_t>(best);
  }
}

}  // namespace minitorch::kernels::reference
