// Checks and kernel calls of the ops that only inference uses.
#include "minitorch/ops/inference.h"

#include "minitorch/ops/op_support.h"

namespace minitorch::ops {

Tensor linear(const Tensor& x, const PackedMatrix& weight, const Tensor& bias, const Tensor& residual) {
  check_f32_dims("linear", "x", x, 2);
  check_constant("linear", "x", x);  // packed weights serve inference
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
    check_f32_shape("linear", "bias", bias, {weight.rows()});
    check_constant("linear", "bias", bias);
    flat_bias = bias.contiguous();
    args.bias = flat_bias.data<float>();
  }
  Tensor residual_rows;
  if (residual.defined()) {
    check_f32_shape("linear", "residual", residual, y.shape());
    check_constant("linear", "residual", residual);
    residual_rows = with_contiguous_rows(residual);
    args.residual = residual_rows.data<float>();
    args.residual_stride = residual_rows.strides()[0];
  }
  table().linear(context(kernels::linear_scratch_bytes(args, num_threads())), args);
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

void rope_(const Tensor& x, const Tensor& cos, const Tensor& sin) {
  check_f32_dims("rope_", "x", x, 3);
  check_constant("rope_", "x", x);
  MT_CHECK_AS(ShapeError, x.size(2) % 2 == 0, "rope_: expected an even head width, got {}", to_string(x.shape()));
  const Shape angles{x.size(0), x.size(2) / 2};
  check_f32_shape("rope_", "cos", cos, angles);
  check_f32_shape("rope_", "sin", sin, angles);
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

void argmax(const Tensor& x, std::int64_t cols, std::span<std::int32_t> out) {
  check_f32_dims("argmax", "x", x, 2);
  MT_CHECK_AS(ShapeError, cols >= 0 && cols <= x.size(1), "argmax: expected cols in [0, {}], got {}", x.size(1), cols);
  MT_CHECK_AS(ShapeError, static_cast<std::int64_t>(out.size()) == x.size(0),
              "argmax: expected room for {} results, got {}", x.size(0), out.size());
  const Tensor rows = with_contiguous_rows(x);
  table().argmax(
      context(),
      {.x = rows.data<float>(), .x_stride = rows.strides()[0], .out = out.data(), .rows = x.size(0), .cols = cols});
}

}  // namespace minitorch::ops
