// Reference top_k: k passes, each finds the next element in the order.
#include <cmath>  // std::isnan

#include "kernels/reference/reference.h"

namespace minitorch::kernels::reference {
namespace {

// Element a = (value, index) comes before b: larger value, then lower index; NaN behind all numbers.
bool before(float a, std::int64_t a_index, float b, std::int64_t b_index) {
  if (std::isnan(a) != std::isnan(b)) return std::isnan(b);
  if (a > b || a < b) return a > b;
  return a_index < b_index;
}

}  // namespace

void top_k(const Context&, const TopKArgs& args) {
  for (std::int64_t m = 0; m < args.rows; ++m) {
    const float* x = args.x + m * args.x_stride;
    std::int64_t previous = -1;
    for (std::int64_t i = 0; i < args.k; ++i) {
      std::int64_t best = -1;
      for (std::int64_t c = 0; c < args.cols; ++c) {
        const bool unused = previous < 0 || before(x[previous], previous, x[c], c);
        if (unused && (best < 0 || before(x[c], c, x[best], best))) best = c;
      }
      args.values[m * args.k + i] = x[best];
      args.indices[m * args.k + i] = static_cast<std::int32_t>(best);
      previous = best;
    }
  }
}

}  // namespace minitorch::kernels::reference
