// softmax and log_softmax.
#include "minitorch/autograd/record.h"
#include "minitorch/ops/fused.h"
#include "minitorch/ops/op_support.h"
#include "minitorch/ops/operators.h"
#include "minitorch/ops/pointwise.h"
#include "minitorch/ops/reduce.h"

namespace minitorch::ops {
namespace {

using autograd::InputGradients;
using autograd::record;

Tensor row_sum(const Tensor& x) { return sum(x, {-1}, /*keepdim=*/true); }

// x minus its row's largest element. The result of a softmax does not depend on what is subtracted, so that has no
// gradient.
Tensor shifted(const Tensor& x) { return x - max(x.detach(), -1, /*keepdim=*/true); }

Tensor softmax_composite(const Tensor& x, bool log) {
  const Tensor z = shifted(x);
  if (log) return z - ops::log(row_sum(exp(z)));
  const Tensor e = exp(z);
  return e / row_sum(e);
}

Tensor softmax_kernel(const Tensor& x, bool log) {
  const Tensor rows = as_rows(x);
  Tensor y = Tensor::empty(x.shape());
  table().softmax(context(), {.x = rows.data<float>(),
                              .x_stride = rows.strides()[0],
                              .y = y.data<float>(),
                              .y_stride = rows.size(1),
                              .rows = rows.size(0),
                              .cols = rows.size(1),
                              .log = log});
  return y;
}

Tensor softmax_backward_kernel(const Tensor& dy, const Tensor& y, bool log) {
  const Tensor y_rows = as_rows(y);
  const Tensor dy_rows = as_rows(dy);
  Tensor dx = Tensor::empty(y.shape());
  table().softmax_backward(context(), {.y = y_rows.data<float>(),
                                       .y_stride = y_rows.strides()[0],
                                       .dy = dy_rows.data<float>(),
                                       .dy_stride = dy_rows.strides()[0],
                                       .dx = dx.data<float>(),
                                       .dx_stride = y_rows.size(1),
                                       .rows = y_rows.size(0),
                                       .cols = y_rows.size(1),
                                       .log = log});
  return dx;
}

// The kernel's formulas in plain ops.
Tensor softmax_gradient(const Tensor& dy, const Tensor& y, bool log) {
  return log ? dy - exp(y) * row_sum(dy) : y * (dy - row_sum(dy * y));
}

Tensor any_softmax(const char* name, const Tensor& x, bool log) {
  check_float(name, "x", x);
  MT_CHECK_AS(ShapeError, last_extent(name, "x", x) > 0 || x.numel() == 0, "{}: expected rows with elements, got {}",
              name, to_string(x.shape()));
  if (x.numel() == 0) return x.clone();
  if (x.dtype() == DType::kF64) return softmax_composite(x, log);
  Tensor y = softmax_kernel(x, log);
  record(y, name, {&x}, [&] {
    return [x, saved = y.detach(), log](const Tensor& dy, InputGradients& inputs) {
      if (grad_enabled()) {
        inputs.set(0, softmax_gradient(dy, log ? log_softmax(x) : softmax(x), log));
      } else {
        inputs.set(0, softmax_backward_kernel(dy, saved, log));
      }
    };
  });
  return y;
}

}  // namespace

Tensor softmax(const Tensor& x) { return any_softmax("softmax", x, /*log=*/false); }
Tensor log_softmax(const Tensor& x) { return any_softmax("log_softmax", x, /*log=*/true); }

}  // namespace minitorch::ops
