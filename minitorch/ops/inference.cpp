// Checks and kernel calls of the decoder's ops.
#include "minitorch/ops/inference.h"

#include <string_view>

#include "minitorch/base/check.h"
#include "minitorch/core/execution_scope.h"

namespace minitorch::ops {
namespace {

const kernels::KernelTable& table() { return *ExecutionScope::current().runtime.table; }

kernels::Context context() { return {.pool = *ExecutionScope::current().runtime.threads}; }

void check_f32(std::string_view op, std::string_view argument, const Tensor& tensor) {
  MT_CHECK_AS(DTypeError, tensor.dtype() == DType::kF32, "{}: expected {} of dtype f32, got {}", op, argument,
              name_of(tensor.dtype()));
}

void check_dims(std::string_view op, std::string_view argument, const Tensor& tensor, int dims) {
  check_f32(op, argument, tensor);
  MT_CHECK_AS(ShapeError, tensor.dims() == dims, "{}: expected {} with {} dimensions, got {}", op, argument, dims,
              to_string(tensor.shape()));
}

void check_shape(std::string_view op, std::string_view argument, const Tensor& tensor, const Shape& shape) {
  check_f32(op, argument, tensor);
  MT_CHECK_AS(ShapeError, tensor.shape() == shape, "{}: expected {} of shape {}, got {}", op, argument,
              to_string(shape), to_string(tensor.shape()));
}

bool has_contiguous_rows(const Tensor& tensor) { return tensor.shape()[1] <= 1 || tensor.strides()[1] == 1; }

// A matrix whose rows are contiguous; they may lie apart. Copies only where they are not.
Tensor with_contiguous_rows(const Tensor& matrix) { return has_contiguous_rows(matrix) ? matrix : matrix.contiguous(); }

}  // namespace

Tensor linear(const Tensor& x, const PackedMatrix& weight, const Tensor& bias, const Tensor& residual) {
  check_dims("linear", "x", x, 2);
  MT_CHECK(weight.defined(), "linear: expected a defined weight");
  MT_CHECK_AS(ShapeError, x.size(1) == weight.cols(), "linear: expected x [M, {}] for weight [{}, {}], got {}",
              weight.cols(), weight.rows(), weight.cols(), to_string(x.shape()));
  Tensor y = Tensor::empty({x.size(0), weight.rows()});
  const Tensor rows = with_contiguous_rows(x);
  kernels::LinearArgs args{.x = rows.data<float>(),
                           .x_stride = rows.strides()[0],
                           .rows = rows.size(0),
                           .weight = weight.view(),
                           .y = y.data<float>(),
                           .y_stride = y.strides()[0]};
  Tensor flat_bias;
  if (bias.defined()) {
    check_shape("linear", "bias", bias, {weight.rows()});
    flat_bias = bias.contiguous();
    args.bias = flat_bias.data<float>();
  }
  Tensor residual_rows;
  if (residual.defined()) {
    check_shape("linear", "residual", residual, y.shape());
    residual_rows = with_contiguous_rows(residual);
    args.residual = residual_rows.data<float>();
    args.residual_stride = residual_rows.strides()[0];
  }
  table().linear(context(), args);
  return y;
}

Tensor gather_rows(const PackedMatrix& table_matrix, std::span<const std::int32_t> ids) {
  MT_CHECK(table_matrix.defined(), "gather_rows: expected a defined table");
  for (const std::int32_t id : ids) {
    MT_CHECK(id >= 0 && id < table_matrix.rows(), "gather_rows: expected ids in [0, {}), got {}", table_matrix.rows(),
             id);
  }
  const auto num_ids = static_cast<std::int64_t>(ids.size());
  Tensor out = Tensor::empty({num_ids, table_matrix.cols()});
  table().gather_rows(context(), {.table = table_matrix.view(),
                                  .ids = ids.data(),
                                  .rows = num_ids,
                                  .out = out.data<float>(),
                                  .out_stride = out.strides()[0]});
  return out;
}

Tensor rms_norm(const Tensor& x, const Tensor& weight, float eps) {
  check_dims("rms_norm", "x", x, 2);
  check_shape("rms_norm", "weight", weight, {x.size(1)});
  const Tensor rows = with_contiguous_rows(x);
  const Tensor flat_weight = weight.contiguous();
  Tensor y = Tensor::empty(x.shape());
  table().rms_norm(context(), {.x = rows.data<float>(),
                               .x_stride = rows.strides()[0],
                               .weight = flat_weight.data<float>(),
                               .y = y.data<float>(),
                               .y_stride = y.strides()[0],
                               .rows = x.size(0),
                               .cols = x.size(1),
                               .eps = eps});
  return y;
}

void rope_(const Tensor& x, const Tensor& cos, const Tensor& sin) {
  check_dims("rope_", "x", x, 3);
  MT_CHECK_AS(ShapeError, x.size(2) % 2 == 0, "rope_: expected an even head width, got {}", to_string(x.shape()));
  const Shape angles{x.size(0), x.size(2) / 2};
  check_shape("rope_", "cos", cos, angles);
  check_shape("rope_", "sin", sin, angles);
  const bool own_rows = x.size(0) <= 1 || x.strides()[0] >= x.size(1) * x.size(2);
  const bool rows_contiguous = x.numel() == 0 || (own_rows && x.slice(0, {.stop = 1}).is_contiguous());
  MT_CHECK_AS(ShapeError, rows_contiguous, "rope_: expected x with contiguous rows, got {} with strides {}",
              to_string(x.shape()), to_string(x.strides()));
  const Tensor flat_cos = cos.contiguous();
  const Tensor flat_sin = sin.contiguous();
  table().rope(context(), {.x = x.data<float>(),
                           .x_stride = x.strides()[0],
                           .cos = flat_cos.data<float>(),
                           .sin = flat_sin.data<float>(),
                           .rows = x.size(0),
                           .heads = x.size(1),
                           .head_dim = x.size(2)});
}

Tensor silu_mul(const Tensor& gate_up) {
  check_dims("silu_mul", "gate_up", gate_up, 2);
  MT_CHECK_AS(ShapeError, gate_up.size(1) % 2 == 0, "silu_mul: expected gate_up [M, 2F], got {}",
              to_string(gate_up.shape()));
  const Tensor rows = with_contiguous_rows(gate_up);
  const std::int64_t width = gate_up.size(1) / 2;
  Tensor out = Tensor::empty({gate_up.size(0), width});
  table().silu_mul(context(), {.gate = rows.data<float>(),
                               .gate_stride = rows.strides()[0],
                               .up = rows.data<float>() + width,
                               .up_stride = rows.strides()[0],
                               .out = out.data<float>(),
                               .out_stride = out.strides()[0],
                               .rows = gate_up.size(0),
                               .cols = width});
  return out;
}

void argmax(const Tensor& x, std::int64_t cols, std::span<std::int32_t> out) {
  check_dims("argmax", "x", x, 2);
  MT_CHECK_AS(ShapeError, cols >= 0 && cols <= x.size(1), "argmax: expected cols in [0, {}], got {}", x.size(1), cols);
  MT_CHECK_AS(ShapeError, static_cast<std::int64_t>(out.size()) == x.size(0),
              "argmax: expected room for {} results, got {}", x.size(0), out.size());
  const Tensor rows = with_contiguous_rows(x);
  table().argmax(
      context(),
      {.x = rows.data<float>(), .x_stride = rows.strides()[0], .out = out.data(), .rows = x.size(0), .cols = cols});
}

}  // namespace minitorch::ops
