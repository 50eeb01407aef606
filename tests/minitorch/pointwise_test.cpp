// Pointwise ops and operators: values, shapes, numbers as operands, refusals. Accuracy: tests/kernels.
#include "minitorch/ops/pointwise.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "minitorch/base/error.h"
#include "minitorch/ops/operators.h"
#include "tests/minitorch/gradient_support.h"

namespace minitorch::ops {
namespace {

using test::random_tensor;
using test::tensor_of;
using test::Values;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST_CASE("unary ops compute their function in both types and for every layout") {
  struct Function {
    Tensor (*op)(const Tensor&);
    double (*expected)(double);
  };
  const std::vector<Function> functions{
      {neg, [](double x) { return -x; }},
      {ops::abs, [](double x) { return std::abs(x); }},
      {reciprocal, [](double x) { return 1 / x; }},
      {square, [](double x) { return x * x; }},
      {ops::sqrt, [](double x) { return std::sqrt(x); }},
      {rsqrt, [](double x) { return 1 / std::sqrt(x); }},
      {ops::exp, [](double x) { return std::exp(x); }},
      {ops::log, [](double x) { return std::log(x); }},
      {ops::sin, [](double x) { return std::sin(x); }},
      {ops::cos, [](double x) { return std::cos(x); }},
      {ops::tanh, [](double x) { return std::tanh(x); }},
      {ops::erf, [](double x) { return std::erf(x); }},
      {sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {relu, [](double x) { return x > 0 ? x : 0; }},
      {silu, [](double x) { return x / (1 + std::exp(-x)); }},
      {gelu, [](double x) { return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0))); }},
      {gelu_tanh, [](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }},
  };
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const Tensor x = random_tensor({5, 3}, 1, dtype, 0.2, 2);
    for (std::size_t i = 0; i < functions.size(); ++i) {
      CAPTURE(i);
      for (const Tensor& input : {x, x.transpose(0, 1), x.slice(0, {.step = 2})}) {
        Values expected = input.to_vector();
        for (double& value : expected) value = functions[i].expected(value);
        const Tensor y = functions[i].op(input);
        CHECK(y.dtype() == dtype);
        CHECK(y.is_contiguous());
        const double tolerance = dtype == DType::kF32 ? 1e-6 : 1e-14;
        CHECK(test::distance(y, tensor_of(expected, input.shape(), DType::kF64)) < tolerance);
      }
    }
  }
  CHECK(ops::exp(Tensor::zeros({0, 3})).shape() == Shape{0, 3});
}

TEST_CASE("operators take tensors and numbers on both sides") {
  const Tensor a = tensor_of({1, 2, 4}, {3});
  const Tensor b = tensor_of({4, 4, 8}, {3});
  CHECK((a + b).to_vector() == Values{5, 6, 12});
  CHECK((a - b).to_vector() == Values{-3, -2, -4});
  CHECK((a * b).to_vector() == Values{4, 8, 32});
  CHECK((a / b).to_vector() == Values{0.25, 0.5, 0.5});
  CHECK((-a).to_vector() == Values{-1, -2, -4});
  CHECK((a + 1.0).to_vector() == Values{2, 3, 5});
  CHECK((1.0 - a).to_vector() == Values{0, -1, -3});
  CHECK((8.0 / a).to_vector() == Values{8, 4, 2});
  CHECK((a * 0.5).to_vector() == Values{0.5, 1, 2});
  CHECK(ops::pow(a, 2.0).to_vector() == Values{1, 4, 16});
  CHECK(ops::pow(2.0, a).to_vector() == Values{2, 4, 16});
  CHECK(maximum(a, 2.0).to_vector() == Values{2, 2, 4});
  CHECK(minimum(a, tensor_of({3, 1, 9}, {3})).to_vector() == Values{1, 1, 4});
  CHECK((a.to(DType::kF64) + 1.0).dtype() == DType::kF64);
}

TEST_CASE("operands broadcast as in NumPy") {
  const Tensor column = tensor_of({1, 2}, {2, 1});
  const Tensor row = tensor_of({10, 20, 30}, {3});
  CHECK((column + row).shape() == Shape{2, 3});
  CHECK((column + row).to_vector() == Values{11, 21, 31, 12, 22, 32});
  CHECK((row - column).to_vector() == Values{9, 19, 29, 8, 18, 28});
  CHECK((row + Tensor::full({}, 1)).to_vector() == Values{11, 21, 31});
  CHECK((column * Tensor::zeros({0})).shape() == Shape{2, 0});
  CHECK((column.expand({2, 2}) + column.expand({2, 2}).transpose(0, 1)).to_vector() == Values{2, 3, 3, 4});
}

TEST_CASE("comparisons give bools, and masks choose") {
  const Tensor a = tensor_of({1, 2, 3}, {3});
  CHECK(lt(a, 2.0).dtype() == DType::kBool);
  CHECK(lt(a, 2.0).to_vector() == Values{1, 0, 0});
  CHECK(le(a, 2.0).to_vector() == Values{1, 1, 0});
  CHECK(gt(a, 2.0).to_vector() == Values{0, 0, 1});
  CHECK(ge(a, 2.0).to_vector() == Values{0, 1, 1});
  CHECK(eq(a, 2.0).to_vector() == Values{0, 1, 0});
  CHECK(ne(a, tensor_of({1}, {1})).to_vector() == Values{0, 1, 1});
  CHECK(where(gt(a, 1.0), a, Tensor::full({}, -1)).to_vector() == Values{-1, 2, 3});
  CHECK(where(gt(a, 1.0).view({3, 1}), tensor_of({1, 2}, {2}), -a.view({3, 1})).to_vector() ==
        Values{-1, -1, 1, 2, 1, 2});
  CHECK(masked_fill(a, eq(a, 2.0), -kInfinity).to_vector() == Values{1, -kInfinity, 3});
  CHECK_FALSE(lt(test::leaf(a), 2.0).requires_grad());
}

TEST_CASE("pointwise ops refuse other types, mixed types and masks that do not fit") {
  const Tensor a = Tensor::zeros({2, 3});
  CHECK_THROWS_WITH_AS((void)ops::exp(Tensor::zeros({2}, DType::kI64)), "exp: expected x of dtype f32 or f64, got i64",
                       DTypeError);
  CHECK_THROWS_WITH_AS((void)(a + a.to(DType::kF64)), "add: expected operands of one dtype, got f32 and f64",
                       DTypeError);
  CHECK_THROWS_AS((void)(a.to(DType::kBF16) + 1.0), DTypeError);
  CHECK_THROWS_AS((void)lt(a, Tensor::zeros({2, 4})), ShapeError);
  CHECK_THROWS_WITH_AS((void)where(a, a, a), "where: expected condition of dtype bool, got f32", DTypeError);
  CHECK_THROWS_WITH_AS((void)masked_fill(Tensor::zeros({3}), gt(a, 0.0), 1),
                       "masked_fill: expected a mask that broadcasts to [3], got [2, 3]", ShapeError);
  CHECK_THROWS_AS((void)(Tensor() + a), Error);
}

TEST_CASE("add_ and mul_ write into the memory of their first operand") {
  const Tensor whole = tensor_of({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor columns = whole.slice(1, {.start = 1});
  add_(columns, tensor_of({10, 20}, {2}));
  CHECK(whole.to_vector() == Values{1, 12, 23, 4, 15, 26});
  mul_(whole.select(0, 1), 2);
  CHECK(whole.to_vector() == Values{1, 12, 23, 8, 30, 52});
  add_(whole, whole);
  CHECK(whole.to_vector() == Values{2, 24, 46, 16, 60, 104});
  const Tensor square_matrix = tensor_of({1, 2, 3, 4}, {2, 2});
  add_(square_matrix, square_matrix.transpose(0, 1));  // reads what it would have overwritten
  CHECK(square_matrix.to_vector() == Values{2, 5, 5, 8});
  CHECK_THROWS_AS(add_(Tensor::zeros({1}), Tensor::zeros({2})), ShapeError);
  CHECK_THROWS_AS(mul_(Tensor::zeros({1}).expand({2}), 2), ShapeError);
}

}  // namespace
}  // namespace minitorch::ops
