// rms_norm and layer_norm.
#include <string_view>
#include <utility>

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

Tensor row_mean(const Tensor& x) { return mean(x, {-1}, /*keepdim=*/true); }

Tensor inverse_rms(const Tensor& x, float eps) { return rsqrt(row_mean(square(x)) + double{eps}); }

Tensor rms_norm_kernel(const Tensor& x, const Tensor& weight, float eps) {
  const NoGradGuard unrecorded;
  const Tensor rows = as_rows(x);
  const Tensor flat_weight = weight.contiguous();
  Tensor y = Tensor::empty(x.shape());
  table().rms_norm(context(), {.x = rows.data<float>(),
                               .x_stride = rows.strides()[0],
                               .weight = flat_weight.data<float>(),
                               .y = y.data<float>(),
                               .y_stride = rows.size(1),
                               .rows = rows.size(0),
                               .cols = rows.size(1),
                               .eps = eps});
  return y;
}

void rms_norm_backward_kernel(const Tensor& dy, const Tensor& x, const Tensor& weight, float eps,
                              InputGradients& inputs) {
  const Tensor rows = as_rows(x);
  const Tensor flat_weight = weight.contiguous();
  const Tensor dy_rows = as_rows(dy);
  const Tensor dx = inputs.wanted(0) ? Tensor::empty(x.shape()) : Tensor();
  const Tensor dweight = inputs.wanted(1) ? Tensor::empty(weight.shape()) : Tensor();
  table().rms_norm_backward(context(), {.x = rows.data<float>(),
                                        .x_stride = rows.strides()[0],
                                        .weight = flat_weight.data<float>(),
                                        .dy = dy_rows.data<float>(),
                                        .dy_stride = dy_rows.strides()[0],
                                        .dx = dx.defined() ? dx.data<float>() : nullptr,
                                        .dx_stride = rows.size(1),
                                        .dweight = dweight.defined() ? dweight.data<float>() : nullptr,
                                        .rows = rows.size(0),
                                        .cols = rows.size(1),
                                        .eps = eps});
  inputs.set(0, dx);
  inputs.set(1, dweight);
}

// The kernel's formulas in plain ops.
void rms_norm_gradients(const Tensor& dy, const Tensor& x, const Tensor& weight, float eps, InputGradients& inputs) {
  const Tensor r = inverse_rms(x, eps);
  if (inputs.wanted(0)) {
    const Tensor scaled = dy * weight;
    inputs.set(0, r * (scaled - x * square(r) * row_mean(scaled * x)));
  }
  if (inputs.wanted(1)) inputs.set_broadcast(1, dy * x * r);
}

// The result, and what the backward kernel needs of each row [M].
struct LayerNormResult {
  Tensor y, mean, inverse_deviation;
};

LayerNormResult layer_norm_kernel(const Tensor& x, const Tensor& weight, const Tensor& bias, float eps) {
  const NoGradGuard unrecorded;
  const Tensor rows = as_rows(x);
  const Tensor flat_weight = weight.contiguous();
  const Tensor flat_bias = bias.defined() ? bias.contiguous() : Tensor();
  LayerNormResult result{.y = Tensor::empty(x.shape()),
                         .mean = Tensor::empty({rows.size(0)}),
                         .inverse_deviation = Tensor::empty({rows.size(0)})};
  table().layer_norm(context(), {.x = rows.data<float>(),
                                 .x_stride = rows.strides()[0],
                                 .weight = flat_weight.data<float>(),
                                 .bias = bias.defined() ? flat_bias.data<float>() : nullptr,
                                 .y = result.y.data<float>(),
                                 .y_stride = rows.size(1),
                                 .mean = result.mean.data<float>(),
                                 .inverse_deviation = result.inverse_deviation.data<float>(),
                                 .rows = rows.size(0),
                                 .cols = rows.size(1),
                                 .eps = eps});
  return result;
}

void layer_norm_backward_kernel(const Tensor& dy, const Tensor& x, const Tensor& weight, const LayerNormResult& saved,
                                InputGradients& inputs) {
  const Tensor rows = as_rows(x);
  const Tensor flat_weight = weight.contiguous();
  const Tensor dy_rows = as_rows(dy);
  const Tensor dx = inputs.wanted(0) ? Tensor::empty(x.shape()) : Tensor();
  const Tensor dweight = inputs.wanted(1) ? Tensor::empty(weight.shape()) : Tensor();
  const Tensor dbias = inputs.wanted(2) ? Tensor::empty(weight.shape()) : Tensor();
  table().layer_norm_backward(context(), {.x = rows.data<float>(),
                                          .x_stride = rows.strides()[0],
                                          .weight = flat_weight.data<float>(),
                                          .mean = saved.mean.data<float>(),
                                          .inverse_deviation = saved.inverse_deviation.data<float>(),
                                          .dy = dy_rows.data<float>(),
                                          .dy_stride = dy_rows.strides()[0],
                                          .dx = dx.defined() ? dx.data<float>() : nullptr,
                                          .dx_stride = rows.size(1),
                                          .dweight = dweight.defined() ? dweight.data<float>() : nullptr,
                                          .dbias = dbias.defined() ? dbias.data<float>() : nullptr,
                                          .rows = rows.size(0),
                                          .cols = rows.size(1)});
  inputs.set(0, dx);
  inputs.set(1, dweight);
  inputs.set(2, dbias);
}

// The kernel's results in plain ops: with z = (x - mean) r, dx = r (g - mean(g) - z mean(g z)) for g = dy weight.
void layer_norm_gradients(const Tensor& dy, const Tensor& x, const Tensor& weight, float eps, InputGradients& inputs) {
  const Tensor centred = x - row_mean(x);
  const Tensor r = inverse_rms(centred, eps);
  const Tensor z = centred * r;
  if (inputs.wanted(0)) {
    const Tensor scaled = dy * weight;
    inputs.set(0, r * (scaled - row_mean(scaled) - z * row_mean(scaled * z)));
  }
  if (inputs.wanted(1)) inputs.set_broadcast(1, dy * z);
  if (inputs.wanted(2)) inputs.set_broadcast(2, dy);
}

void check_norm(std::string_view op, std::string_view argument, const Tensor& parameter, const Tensor& x) {
  check_dtype(op, argument, parameter, x.dtype());
  check_shape(op, argument, parameter, {last_extent(op, "x", x)});
}

}  // namespace

Tensor rms_norm(const Tensor& x, const Tensor& weight, float eps) {
  check_float("rms_norm", "x", x);
  check_norm("rms_norm", "weight", weight, x);
  if (x.dtype() == DType::kF64) return x * inverse_rms(x, eps) * weight;
  Tensor y = rms_norm_kernel(x, weight, eps);
  record(y, "rms_norm", {&x, &weight}, [&] {
    return [x, weight, eps](const Tensor& dy, InputGradients& inputs) {
      (grad_enabled() ? rms_norm_gradients : rms_norm_backward_kernel)(dy, x, weight, eps, inputs);
    };
  });
  return y;
}

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, float eps) {
  check_float("layer_norm", "x", x);
  check_norm("layer_norm", "weight", weight, x);
  if (bias.defined()) check_norm("layer_norm", "bias", bias, x);
  if (x.dtype() == DType::kF64) {
    const Tensor centred = x - row_mean(x);
    const Tensor scaled = centred * inverse_rms(centred, eps) * weight;
    return bias.defined() ? scaled + bias : scaled;
  }
  LayerNormResult result = layer_norm_kernel(x, weight, bias, eps);
  Tensor y = std::move(result.y);
  record(y, "layer_norm", {&x, &weight, &bias}, [&] {
    return [x, weight, eps, saved = std::move(result)](const Tensor& dy, InputGradients& inputs) {
      if (grad_enabled()) {
        layer_norm_gradients(dy, x, weight, eps, inputs);
      } else {
        layer_norm_backward_kernel(dy, x, weight, saved, inputs);
      }
    };
  });
  return y;
}

}  // namespace minitorch::ops
