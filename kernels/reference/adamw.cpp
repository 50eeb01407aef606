// Reference adamw: one step in double.
#include <cmath>  // std::sqrt

#include "kernels/reference/reference.h"

namespace minitorch::kernels::reference {

void adamw(const Context&, const AdamWArgs& args) {
  const double beta1 = args.beta1;
  const double beta2 = args.beta2;
  const double lr = args.lr;
  for (std::int64_t i = 0; i < args.count; ++i) {
    const double g = static_cast<double>(args.grad[i]) * args.grad_scale;
    const double m = beta1 * args.m[i] + (1.0 - beta1) * g;
    const double v = beta2 * args.v[i] + (1.0 - beta2) * g * g;
    const double p = args.parameter[i];
    const double step = m / args.correction1 / (std::sqrt(v / args.correction2) + static_cast<double>(args.eps));
    args.parameter[i] = static_cast<float>(p - lr * args.weight_decay * p - lr * step);
    args.m[i] = static_cast<float>(m);
    args.v[i] = static_cast<float>(v);
  }
}

}  // namespace minitorch::kernels::reference
