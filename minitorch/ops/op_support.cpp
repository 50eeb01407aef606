// Argument checks and matrix views shared by the ops.
#include "minitorch/ops/op_support.h"

namespace minitorch::ops {

void check_dtype(std::string_view op, std::string_view argument, const Tensor& tensor, DType dtype) {
  MT_CHECK_AS(DTypeError, tensor.dtype() == dtype, "{}: expected {} of dtype {}, got {}", op, argument, name_of(dtype),
              name_of(tensor.dtype()));
}

void check_float(std::string_view op, std::string_view argument, const Tensor& tensor) {
  MT_CHECK_AS(DTypeError, is_float(tensor), "{}: expected {} of dtype f32 or f64, got {}", op, argument,
              name_of(tensor.dtype()));
}

void check_num_dims(std::string_view op, std::string_view argument, const Tensor& tensor, int dims) {
  MT_CHECK_AS(ShapeError, tensor.dims() == dims, "{}: expected {} with {} dimensions, got {}", op, argument, dims,
              to_string(tensor.shape()));
}

void check_shape(std::string_view op, std::string_view argument, const Tensor& tensor, const Shape& shape) {
  MT_CHECK_AS(ShapeError, tensor.shape() == shape, "{}: expected {} of shape {}, got {}", op, argument,
              to_string(shape), to_string(tensor.shape()));
}

void check_constant(std::string_view op, std::string_view argument, const Tensor& tensor) {
  MT_CHECK(!grad_enabled() || !tensor.requires_grad(),
           "{}: expected {} that requires no gradient, got one whose gradient would be lost; detach() it", op,
           argument);
}

void check_f32_dims(std::string_view op, std::string_view argument, const Tensor& tensor, int dims) {
  check_dtype(op, argument, tensor, DType::kF32);
  check_num_dims(op, argument, tensor, dims);
}

void check_f32_shape(std::string_view op, std::string_view argument, const Tensor& tensor, const Shape& shape) {
  check_dtype(op, argument, tensor, DType::kF32);
  check_shape(op, argument, tensor, shape);
}

Tensor with_contiguous_rows(const Tensor& matrix) {
  const bool contiguous_rows = matrix.shape()[1] <= 1 || matrix.strides()[1] == 1;
  return contiguous_rows ? matrix : matrix.contiguous();
}

Tensor as_rows(const Tensor& x) {
  const NoGradGuard unrecorded;
  if (x.dims() == 2) return with_contiguous_rows(x);
  std::int64_t rows = 1;
  for (int dim = 0; dim + 1 < x.dims(); ++dim) rows *= x.shape()[dim];
  return with_contiguous_rows(x.reshape({rows, x.size(-1)}));
}

std::int64_t last_extent(std::string_view op, std::string_view argument, const Tensor& x) {
  MT_CHECK_AS(ShapeError, x.dims() > 0, "{}: expected {} with at least one dimension, got a scalar", op, argument);
  return x.size(-1);
}

Tensor scalar(double value, DType dtype) {
  Tensor result = Tensor::empty({}, dtype);
  if (dtype == DType::kF64) {
    *result.data<double>() = value;
  } else {
    *result.data<float>() = static_cast<float>(value);
  }
  return result;
}

}  // namespace minitorch::ops
