// silu_mul: the gate of a feed-forward.
#include <array>

#include "minitorch/autograd/record.h"
#include "minitorch/ops/fused.h"
#include "minitorch/ops/index.h"
#include "minitorch/ops/op_support.h"
#include "minitorch/ops/operators.h"
#include "minitorch/ops/pointwise.h"

namespace minitorch::ops {
namespace {

using autograd::InputGradients;
using autograd::record;

struct Halves {
  Tensor gate, up;
};
Halves halves_of(const Tensor& gate_up) {
  const std::int64_t width = gate_up.size(-1) / 2;
  return {.gate = gate_up.slice(-1, {.stop = width}), .up = gate_up.slice(-1, {.start = width})};
}

Tensor silu_mul_kernel(const Tensor& gate_up) {
  const Tensor rows = as_rows(gate_up);
  const std::int64_t width = rows.size(1) / 2;
  Shape shape = gate_up.shape();
  shape[shape.dims() - 1] = width;
  Tensor out = Tensor::empty(shape);
  table().silu_mul(context(), {.gate = rows.data<float>(),
                               .gate_stride = rows.strides()[0],
                               .up = rows.data<float>() + width,
                               .up_stride = rows.strides()[0],
                               .out = out.data<float>(),
                               .out_stride = width,
                               .rows = rows.size(0),
                               .cols = width});
  return out;
}

Tensor silu_mul_backward_kernel(const Tensor& dout, const Tensor& gate_up) {
  const Tensor rows = as_rows(gate_up);
  const Tensor dout_rows = as_rows(dout);
  const std::int64_t width = rows.size(1) / 2;
  Tensor gradient = Tensor::empty(gate_up.shape());
  table().silu_mul_backward(context(), {.gate = rows.data<float>(),
                                        .gate_stride = rows.strides()[0],
                                        .up = rows.data<float>() + width,
                                        .up_stride = rows.strides()[0],
                                        .dout = dout_rows.data<float>(),
                                        .dout_stride = dout_rows.strides()[0],
                                        .dgate = gradient.data<float>(),
                                        .dgate_stride = rows.size(1),
                                        .dup = gradient.data<float>() + width,
                                        .dup_stride = rows.size(1),
                                        .rows = rows.size(0),
                                        .cols = width});
  return gradient;
}

// The kernel's formulas in plain ops.
Tensor silu_mul_gradient(const Tensor& dout, const Tensor& gate_up) {
  const auto [gate, up] = halves_of(gate_up);
  const Tensor s = sigmoid(gate);
  const std::array parts{dout * up * s * (1.0 + gate * (1.0 - s)), dout * gate * s};
  return cat(parts, -1);
}

}  // namespace

Tensor silu_mul(const Tensor& gate_up) {
  check_float("silu_mul", "gate_up", gate_up);
  MT_CHECK_AS(ShapeError, last_extent("silu_mul", "gate_up", gate_up) % 2 == 0,
              "silu_mul: expected gate_up [..., 2F], got {}", to_string(gate_up.shape()));
  if (gate_up.dtype() == DType::kF64) {
    const auto [gate, up] = halves_of(gate_up);
    return silu(gate) * up;
  }
  Tensor out = silu_mul_kernel(gate_up);
  record(out, "silu_mul", {&gate_up}, [&] {
    return [gate_up](const Tensor& dout, InputGradients& inputs) {
      inputs.set(0, (grad_enabled() ? silu_mul_gradient : silu_mul_backward_kernel)(dout, gate_up));
    };
  });
  return out;
}

}  // namespace minitorch::ops
