// Pointwise ops: the kernels map, zip and where over broadcast operands.
#include "minitorch/ops/pointwise.h"

#include <algorithm>
#include <string_view>

#include "kernels/ops/pointwise.h"
#include "minitorch/autograd/record.h"
#include "minitorch/ops/op_support.h"
#include "minitorch/ops/pointwise_gradients.h"

namespace minitorch::ops {
namespace {

using autograd::InputGradients;
using autograd::record;
using kernels::BinaryOp;
using kernels::UnaryOp;

void copy_extents(const Shape& extents, std::int64_t* out) { std::copy(extents.begin(), extents.end(), out); }

// The strides that show `x` in `shape`, to which it broadcasts.
void broadcast_strides(const Tensor& x, const Shape& shape, std::int64_t* out) {
  const int lead = shape.dims() - x.dims();
  for (int dim = 0; dim < shape.dims(); ++dim) {
    const bool expanded = dim < lead || (x.shape()[dim - lead] == 1 && shape[dim] != 1);
    out[dim] = expanded ? 0 : x.strides()[dim - lead];
  }
}

void check_operands(std::string_view op, const Tensor& a, const Tensor& b) {
  check_float(op, "operands", a);
  MT_CHECK_AS(DTypeError, a.dtype() == b.dtype(), "{}: expected operands of one dtype, got {} and {}", op,
              name_of(a.dtype()), name_of(b.dtype()));
}

Tensor map(UnaryOp op, const Tensor& x) {
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  if (y.numel() == 0) return y;
  kernels::MapArgs args{.op = op, .dtype = x.dtype(), .dims = x.dims(), .x = x.raw_data(), .out = y.raw_data()};
  copy_extents(x.shape(), args.shape);
  copy_extents(x.strides(), args.x_strides);
  copy_extents(y.strides(), args.out_strides);
  table().map(context(), args);
  return y;
}

// Into `out`, whose shape is the common one.
void zip_into(const Tensor& out, BinaryOp op, const Tensor& a, const Tensor& b) {
  if (out.numel() == 0) return;
  kernels::ZipArgs args{
      .op = op, .dtype = a.dtype(), .dims = out.dims(), .a = a.raw_data(), .b = b.raw_data(), .out = out.raw_data()};
  copy_extents(out.shape(), args.shape);
  broadcast_strides(a, out.shape(), args.a_strides);
  broadcast_strides(b, out.shape(), args.b_strides);
  copy_extents(out.strides(), args.out_strides);
  table().zip(context(), args);
}

Tensor zip(const char* name, BinaryOp op, const Tensor& a, const Tensor& b, DType result) {
  check_operands(name, a, b);
  Tensor y = Tensor::empty(a.shape() == b.shape() ? a.shape() : broadcast_shapes(name, a.shape(), b.shape()), result);
  zip_into(y, op, a, b);
  return y;
}

Tensor unary(UnaryOp op, const char* name, Tensor (*function)(const Tensor&), const gradients::UnaryRule& rule,
             const Tensor& x) {
  check_float(name, "x", x);
  Tensor y = map(op, x);
  record(y, name, {&x}, [&] {
    const Tensor saved = rule.needs_y ? y.detach() : Tensor();
    return [&rule, function, x, saved](const Tensor& dy, InputGradients& inputs) {
      // What is saved has no history: when the backward pass is recorded itself, it is computed again.
      inputs.set(0, rule.gradient(dy, x, rule.needs_y && grad_enabled() ? function(x) : saved));
    };
  });
  return y;
}

Tensor binary(BinaryOp op, const char* name, const gradients::BinaryRule& rule, const Tensor& a, const Tensor& b) {
  Tensor y = zip(name, op, a, b, a.dtype());
  record(y, name, {&a, &b}, [&] {
    return [&rule, a, b](const Tensor& dy, InputGradients& inputs) {
      if (inputs.wanted(0)) inputs.set_broadcast(0, rule.of_a(dy, a, b));
      if (inputs.wanted(1)) inputs.set_broadcast(1, rule.of_b(dy, a, b));
    };
  });
  return y;
}

// A number as the other operand of x.
Tensor scalar_for(const char* name, double value, const Tensor& x) {
  check_float(name, "operands", x);
  return scalar(value, x.dtype());
}

// Writes op(target, operand) into target's memory.
void apply_in_place(const char* name, BinaryOp op, const Tensor& target, const Tensor& operand) {
  MT_CHECK(!autograd::gradient_flows({&target, &operand}),
           "{}: expected tensors that require no gradient, which would be lost: detach() or switch gradients off",
           name);
  check_operands(name, target, operand);
  const bool fits = broadcast_shapes(name, target.shape(), operand.shape()) == target.shape();
  MT_CHECK_AS(ShapeError, fits, "{}: expected an operand that broadcasts to {}, got {}", name,
              to_string(target.shape()), to_string(operand.shape()));
  for (int dim = 0; dim < target.dims(); ++dim) {
    MT_CHECK_AS(ShapeError, target.strides()[dim] != 0 || target.shape()[dim] <= 1,
                "{}: expected a target without expanded dimensions, got {} with strides {}", name,
                to_string(target.shape()), to_string(target.strides()));
  }
  const bool same_view = operand.raw_data() == target.raw_data() && operand.strides() == target.strides() &&
                         operand.shape() == target.shape();
  const bool may_overlap = operand.shares_storage_with(target) && !same_view;
  zip_into(target, op, target, may_overlap ? operand.clone() : operand);
}

}  // namespace

#define MT_UNARY(name, Functor) \
  Tensor name(const Tensor& x) { return unary(UnaryOp::k##Functor, #name, &ops::name, gradients::name, x); }
#define MT_BINARY(name, Functor)                                                                                       \
  Tensor name(const Tensor& a, const Tensor& b) { return binary(BinaryOp::k##Functor, #name, gradients::name, a, b); } \
  Tensor name(const Tensor& a, double b) { return name(a, scalar_for(#name, b, a)); }                                  \
  Tensor name(double a, const Tensor& b) { return name(scalar_for(#name, a, b), b); }
#define MT_COMPARE(name, Functor)                                                                                \
  Tensor name(const Tensor& a, const Tensor& b) { return zip(#name, BinaryOp::k##Functor, a, b, DType::kBool); } \
  Tensor name(const Tensor& a, double b) { return name(a, scalar_for(#name, b, a)); }
#include "kernels/pointwise.def"
#undef MT_UNARY
#undef MT_BINARY
#undef MT_COMPARE

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  check_dtype("where", "condition", condition, DType::kBool);
  check_operands("where", a, b);
  const Shape shape = broadcast_shapes("where", broadcast_shapes("where", a.shape(), b.shape()), condition.shape());
  Tensor y = Tensor::empty(shape, a.dtype());
  if (y.numel() > 0) {
    kernels::WhereArgs args{.dtype = a.dtype(),
                            .dims = shape.dims(),
                            .condition = condition.data<bool>(),
                            .a = a.raw_data(),
                            .b = b.raw_data(),
                            .out = y.raw_data()};
    copy_extents(shape, args.shape);
    broadcast_strides(condition, shape, args.condition_strides);
    broadcast_strides(a, shape, args.a_strides);
    broadcast_strides(b, shape, args.b_strides);
    copy_extents(y.strides(), args.out_strides);
    table().where(context(), args);
  }
  record(y, "where", {&a, &b}, [&] {
    return [condition](const Tensor& dy, InputGradients& inputs) {
      const Tensor zero = scalar(0.0, dy.dtype());
      if (inputs.wanted(0)) inputs.set_broadcast(0, where(condition, dy, zero));
      if (inputs.wanted(1)) inputs.set_broadcast(1, where(condition, zero, dy));
    };
  });
  return y;
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, double value) {
  check_float("masked_fill", "x", x);
  check_dtype("masked_fill", "mask", mask, DType::kBool);
  const bool fits = broadcast_shapes("masked_fill", x.shape(), mask.shape()) == x.shape();
  MT_CHECK_AS(ShapeError, fits, "masked_fill: expected a mask that broadcasts to {}, got {}", to_string(x.shape()),
              to_string(mask.shape()));
  return where(mask, scalar(value, x.dtype()), x);
}

void add_(const Tensor& sum, const Tensor& addend) { apply_in_place("add_", BinaryOp::kAdd, sum, addend); }

void mul_(const Tensor& x, double factor) {
  check_float("mul_", "x", x);
  apply_in_place("mul_", BinaryOp::kMul, x, scalar(factor, x.dtype()));
}

}  // namespace minitorch::ops
