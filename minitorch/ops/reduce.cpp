// Reductions: the kernel `reduce` over chosen dimensions.
#include "minitorch/ops/reduce.h"

#include <array>
#include <cstddef>
#include <string_view>

#include "kernels/ops/reduce.h"
#include "minitorch/autograd/record.h"
#include "minitorch/ops/index.h"
#include "minitorch/ops/op_support.h"
#include "minitorch/ops/pointwise.h"

namespace minitorch::ops {
namespace {

using autograd::InputGradients;
using autograd::record;
using kernels::ReduceOp;

// Which dimensions go, and the shape of the result with them kept as extent 1 and without them.
struct Reduction {
  std::array<bool, kMaxDims> reduced{};
  Shape kept;     // with extent 1
  Shape dropped;  // without
  std::int64_t count = 1;
};

Reduction plan(std::string_view op, const Tensor& x, std::span<const int> dims) {
  check_float(op, "x", x);
  Reduction result;
  if (dims.empty()) result.reduced.fill(true);
  for (const int entry : dims) {
    bool& reduced = result.reduced[static_cast<std::size_t>(normalize_dim(op, entry, x.dims()))];
    MT_CHECK_AS(ShapeError, !reduced, "{}: expected every dimension of {} at most once, got {} twice", op,
                to_string(x.shape()), entry);
    reduced = true;
  }
  for (int dim = 0; dim < x.dims(); ++dim) {
    const bool reduced = result.reduced[static_cast<std::size_t>(dim)];
    result.kept.push_back(reduced ? 1 : x.shape()[dim]);
    if (!reduced) result.dropped.push_back(x.shape()[dim]);
    if (reduced) result.count *= x.shape()[dim];
  }
  return result;
}

// The result has the shape that keeps the reduced dimensions.
Tensor reduce(ReduceOp op, const Tensor& x, const Reduction& reduction, const Shape& shape) {
  const bool places = op == ReduceOp::kArgmax || op == ReduceOp::kArgmin;
  Tensor y = Tensor::empty(shape, places ? DType::kI64 : x.dtype());
  if (y.numel() == 0) return y;
  kernels::ReduceArgs args{.op = op, .dtype = x.dtype(), .x = x.raw_data(), .out = y.raw_data()};
  int next = 0;
  for (const bool reduced : {false, true}) {
    for (int dim = 0; dim < x.dims(); ++dim) {
      if (reduction.reduced[static_cast<std::size_t>(dim)] != reduced) continue;
      args.shape[next] = x.shape()[dim];
      args.x_strides[next++] = x.strides()[dim];
      ++(reduced ? args.reduced_dims : args.kept_dims);
    }
  }
  table().reduce(context(), args);
  return y;
}

// x's largest or smallest elements along `dim`, with their gradient.
Tensor extremum(const char* name, ReduceOp op, ReduceOp places, const Tensor& x, int dim, bool keepdim) {
  const Reduction reduction = plan(name, x, std::span(&dim, 1));
  dim = normalize_dim(name, dim, x.dims());
  MT_CHECK_AS(ShapeError, x.shape()[dim] > 0, "{}: expected at least one element in dimension {}, got {}", name, dim,
              to_string(x.shape()));
  Tensor y = reduce(op, x, reduction, keepdim ? reduction.kept : reduction.dropped);
  record(y, name, {&x}, [&] {
    const Tensor index = reduce(places, x, reduction, reduction.kept);
    return [index, dim, extent = x.shape()[dim]](const Tensor& dy, InputGradients& inputs) {
      inputs.set(0, scatter_add(dy.reshape(index.shape()), dim, index, extent));
    };
  });
  return y;
}

Tensor place_of(std::string_view name, ReduceOp op, const Tensor& x, int dim, bool keepdim) {
  const Reduction reduction = plan(name, x, std::span(&dim, 1));
  MT_CHECK_AS(ShapeError, reduction.count > 0, "{}: expected at least one element in dimension {}, got {}", name, dim,
              to_string(x.shape()));
  return reduce(op, x, reduction, keepdim ? reduction.kept : reduction.dropped);
}

}  // namespace

Tensor sum(const Tensor& x, std::span<const int> dims, bool keepdim) {
  const Reduction reduction = plan("sum", x, dims);
  Tensor y = reduce(ReduceOp::kSum, x, reduction, keepdim ? reduction.kept : reduction.dropped);
  record(y, "sum", {&x}, [&] {
    return [kept = reduction.kept, shape = x.shape()](const Tensor& dy, InputGradients& inputs) {
      inputs.set(0, dy.reshape(kept).expand(shape));
    };
  });
  return y;
}

Tensor mean(const Tensor& x, std::span<const int> dims, bool keepdim) {
  const Reduction reduction = plan("mean", x, dims);
  const double share = 1.0 / static_cast<double>(reduction.count);
  Tensor y = reduce(ReduceOp::kSum, x, reduction, keepdim ? reduction.kept : reduction.dropped);
  mul_(y, share);
  record(y, "mean", {&x}, [&] {
    return [kept = reduction.kept, shape = x.shape(), share](const Tensor& dy, InputGradients& inputs) {
      inputs.set(0, mul(dy, share).reshape(kept).expand(shape));
    };
  });
  return y;
}

Tensor sum(const Tensor& x, std::initializer_list<int> dims, bool keepdim) {
  return sum(x, std::span(dims.begin(), dims.size()), keepdim);
}
Tensor mean(const Tensor& x, std::initializer_list<int> dims, bool keepdim) {
  return mean(x, std::span(dims.begin(), dims.size()), keepdim);
}

Tensor max(const Tensor& x, int dim, bool keepdim) {
  return extremum("max", ReduceOp::kMax, ReduceOp::kArgmax, x, dim, keepdim);
}
Tensor min(const Tensor& x, int dim, bool keepdim) {
  return extremum("min", ReduceOp::kMin, ReduceOp::kArgmin, x, dim, keepdim);
}
Tensor argmax(const Tensor& x, int dim, bool keepdim) { return place_of("argmax", ReduceOp::kArgmax, x, dim, keepdim); }
Tensor argmin(const Tensor& x, int dim, bool keepdim) { return place_of("argmin", ReduceOp::kArgmin, x, dim, keepdim); }

Tensor sum_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  const bool fits = shape.dims() <= x.dims() && broadcast_shapes("sum_to", x.shape(), shape) == x.shape();
  MT_CHECK_AS(ShapeError, fits, "sum_to: expected a shape that broadcasts to {}, got {}", to_string(x.shape()),
              to_string(shape));
  const int lead = x.dims() - shape.dims();
  std::array<int, kMaxDims> dims{};
  std::size_t count = 0;
  for (int dim = 0; dim < x.dims(); ++dim) {
    const bool expanded = dim < lead || (shape[dim - lead] == 1 && x.shape()[dim] != 1);
    if (expanded) dims[count++] = dim;
  }
  return sum(x, std::span(dims).first(count), /*keepdim=*/true).reshape(shape);
}

}  // namespace minitorch::ops
