// matmul and linear: the kernel `matmul` over batches of strided matrices.
#include "minitorch/ops/matmul.h"

#include <algorithm>  // std::max
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>  // std::exchange

#include "kernels/ops/matmul.h"
#include "minitorch/autograd/record.h"
#include "minitorch/ops/op_support.h"
#include "minitorch/ops/pointwise.h"
#include "minitorch/ops/reduce.h"

namespace minitorch::ops {
namespace {

using autograd::InputGradients;
using autograd::record;

void check_factors(std::string_view op, const Tensor& a, const Tensor& b) {
  check_float(op, "factors", a);
  MT_CHECK_AS(DTypeError, a.dtype() == b.dtype(), "{}: expected factors of one dtype, got {} and {}", op,
              name_of(a.dtype()), name_of(b.dtype()));
}

// One of the dimensions in front of the matrices, and how far apart its matrices are.
struct BatchDim {
  std::int64_t extent = 1, a = 0, b = 0, c = 0;
};
struct BatchDims {
  std::array<BatchDim, kMaxDims> dims{};
  int count = 0;
};

std::int64_t batch_stride(const Tensor& x, int from_right) {
  const int dim = x.dims() - from_right;
  return dim < 0 || x.shape()[dim] == 1 ? 0 : x.strides()[dim];
}

// The batch dimensions of c, neighbours joined where they continue each other in all three.
BatchDims batch_dims(const Tensor& a, const Tensor& b, const Tensor& c) {
  BatchDims result;
  for (int dim = 0; dim + 2 < c.dims(); ++dim) {
    const int from_right = c.dims() - dim;
    const BatchDim next{c.shape()[dim], batch_stride(a, from_right), batch_stride(b, from_right), c.strides()[dim]};
    if (next.extent == 1) continue;
    BatchDim& last = result.dims[static_cast<std::size_t>(result.count > 0 ? result.count - 1 : 0)];
    const bool continues = result.count > 0 && last.a == next.extent * next.a && last.b == next.extent * next.b &&
                           last.c == next.extent * next.c;
    if (continues) {
      last = {last.extent * next.extent, next.a, next.b, next.c};
    } else {
      result.dims[static_cast<std::size_t>(result.count++)] = next;
    }
  }
  return result;
}

void run_kernel(const kernels::MatmulArgs& args) {
  table().matmul(context(kernels::matmul_scratch_bytes(args, num_threads())), args);
}

// Calls the kernel once per index of the dimensions from `dim` on; the last of them is the kernel's own loop.
void run_batches(kernels::MatmulArgs args, const BatchDims& batches, int dim) {
  const BatchDim& current = batches.dims[static_cast<std::size_t>(dim)];
  if (dim + 1 >= batches.count) {
    args.batches = current.extent;
    args.a_batch = current.a;
    args.b_batch = current.b;
    args.c_batch = current.c;
    // Matrices of `a` that lie one behind the other and meet the same b are one tall matrix.
    if (current.b == 0 && current.a == args.rows * args.a_row && current.c == args.rows * args.c_row) {
      args.rows *= std::exchange(args.batches, 1);
    }
    run_kernel(args);
    return;
  }
  const auto bytes = static_cast<std::int64_t>(size_of(args.dtype));
  for (std::int64_t i = 0; i < current.extent; ++i) {
    run_batches(args, batches, dim + 1);
    args.a = static_cast<const std::byte*>(args.a) + current.a * bytes;
    args.b = static_cast<const std::byte*>(args.b) + current.b * bytes;
    args.c = static_cast<std::byte*>(args.c) + current.c * bytes;
  }
}

// a [..., M, K] times b [..., K, N], where b's last two dimensions are seen through these strides.
Tensor multiply(const Tensor& a, const Tensor& b, std::int64_t cols, std::int64_t b_row, std::int64_t b_col,
                const Shape& shape) {
  Tensor c = Tensor::empty(shape, a.dtype());
  if (c.numel() == 0) return c;
  const kernels::MatmulArgs args{.dtype = a.dtype(),
                                 .rows = a.size(-2),
                                 .cols = cols,
                                 .inner = a.size(-1),
                                 .a = a.raw_data(),
                                 .a_row = a.strides()[a.dims() - 2],
                                 .a_col = a.strides()[a.dims() - 1],
                                 .b = b.raw_data(),
                                 .b_row = b_row,
                                 .b_col = b_col,
                                 .c = c.raw_data(),
                                 .c_row = cols};
  run_batches(args, batch_dims(a, b, c), 0);
  return c;
}

// Rows of a tensor seen as a matrix over its last dimension, which may be empty.
std::int64_t leading_size(const Tensor& x) {
  return Shape(std::span(x.shape().begin(), static_cast<std::size_t>(x.dims() - 1))).numel();
}

// The gradient of b [K, N] from those of all rows of a [..., M, K]: one tall product instead of a sum of products.
Tensor gradient_of_shared(const Tensor& dy, const Tensor& a) {
  const std::int64_t rows = leading_size(a);
  const Tensor flat_a = a.reshape({rows, a.size(-1)});
  return matmul(flat_a.transpose(0, 1), dy.reshape({rows, dy.size(-1)}));
}

// Both with at least two dimensions.
Tensor matmul_matrices(const Tensor& a, const Tensor& b) {
  const Shape a_batch(std::span(a.shape().begin(), static_cast<std::size_t>(a.dims() - 2)));
  const Shape b_batch(std::span(b.shape().begin(), static_cast<std::size_t>(b.dims() - 2)));
  Shape shape = broadcast_shapes("matmul", a_batch, b_batch);
  shape.push_back(a.size(-2));
  shape.push_back(b.size(-1));
  Tensor c = multiply(a, b, b.size(-1), b.strides()[b.dims() - 2], b.strides()[b.dims() - 1], shape);
  record(c, "matmul", {&a, &b}, [&] {
    return [a, b](const Tensor& dy, InputGradients& inputs) {
      if (inputs.wanted(0)) inputs.set_broadcast(0, matmul(dy, b.transpose(-1, -2)));
      if (!inputs.wanted(1)) return;
      if (b.dims() == 2 && a.dims() > 2) {
        inputs.set(1, gradient_of_shared(dy, a));
      } else {
        inputs.set_broadcast(1, matmul(a.transpose(-1, -2), dy));
      }
    };
  });
  return c;
}

void check_linear(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& residual,
                  const Shape& shape) {
  if (bias.defined()) {
    check_dtype("linear", "bias", bias, x.dtype());
    check_shape("linear", "bias", bias, {weight.size(0)});
  }
  if (residual.defined()) {
    check_dtype("linear", "residual", residual, x.dtype());
    check_shape("linear", "residual", residual, shape);
  }
}

// The parts of the gradient that are matrix products: dX = dY W, dW = dY^T X.
void linear_gradients(const Tensor& dy, const Tensor& x, const Tensor& weight, InputGradients& inputs) {
  if (inputs.wanted(0)) inputs.set(0, matmul(dy, weight));
  if (!inputs.wanted(1)) return;
  const std::int64_t rows = leading_size(dy);
  const Tensor flat_dy = dy.reshape({rows, weight.size(0)});
  inputs.set(1, matmul(flat_dy.transpose(0, 1), x.reshape({rows, weight.size(1)})));
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  check_factors("matmul", a, b);
  MT_CHECK_AS(ShapeError, a.dims() >= 1 && b.dims() >= 1, "matmul: expected vectors or matrices, got {} and {}",
              to_string(a.shape()), to_string(b.shape()));
  const bool row = a.dims() == 1;
  const bool column = b.dims() == 1;
  MT_CHECK_AS(ShapeError, a.size(-1) == b.size(column ? -1 : -2),
              "matmul: expected [..., M, K] and [..., K, N] with one K, got {} and {}", to_string(a.shape()),
              to_string(b.shape()));
  if (!row && !column) return matmul_matrices(a, b);
  const Tensor c = matmul_matrices(row ? a.unsqueeze(0) : a, column ? b.unsqueeze(1) : b);
  const Tensor without_column = column ? c.squeeze(-1) : c;
  return row ? without_column.squeeze(column ? -1 : -2) : without_column;
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& residual) {
  check_factors("linear", x, weight);
  check_num_dims("linear", "weight", weight, 2);
  MT_CHECK_AS(ShapeError, x.dims() >= 1 && x.size(-1) == weight.size(1),
              "linear: expected x [..., {}] for weight {}, got {}", weight.size(1), to_string(weight.shape()),
              to_string(x.shape()));
  Shape shape = x.shape();
  shape[x.dims() - 1] = weight.size(0);
  check_linear(x, weight, bias, residual, shape);
  Tensor y;
  {
    const NoGradGuard unrecorded;
    y = multiply(x.dims() == 1 ? x.unsqueeze(0) : x, weight, weight.size(0), weight.strides()[1], weight.strides()[0],
                 x.dims() == 1 ? Shape{1, weight.size(0)} : shape);
    if (x.dims() == 1) y = y.squeeze(0);
    // Afterwards, as the kernel `linear` does: f32 results equal those of packed f32 weights bit for bit.
    if (bias.defined()) add_(y, bias);
    if (residual.defined()) add_(y, residual);
  }
  record(y, "linear", {&x, &weight, &bias, &residual}, [&] {
    return [x, weight](const Tensor& dy, InputGradients& inputs) {
      linear_gradients(dy, x, weight, inputs);
      if (inputs.wanted(2)) inputs.set_broadcast(2, dy);
      if (inputs.wanted(3)) inputs.set(3, dy);
    };
  });
  return y;
}

}  // namespace minitorch::ops
