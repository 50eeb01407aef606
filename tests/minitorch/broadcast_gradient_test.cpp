// Gradients of broadcast operands and of reductions: their shapes and values (case B37).
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "minitorch/autograd/grad_check.h"
#include "minitorch/base/error.h"
#include "minitorch/ops/operators.h"
#include "minitorch/ops/reduce.h"
#include "tests/minitorch/gradient_support.h"

namespace minitorch {
namespace {

using test::leaf;
using test::random_tensor;
using test::tensor_of;
using test::Values;

Tensor ones(const Shape& shape) { return leaf(Tensor::full(shape, 1)); }

TEST_CASE("gradients have the operands' shapes, not the common one") {
  const Tensor a = leaf(tensor_of({2}, {1}));
  const Tensor b = leaf(tensor_of({3, 4, 5}, {1, 3}));
  ops::sum(a * b).backward();
  CHECK(a.grad().shape() == Shape{1});
  CHECK(b.grad().shape() == Shape{1, 3});
  CHECK(a.grad().to_vector() == Values{12});
  CHECK(b.grad().to_vector() == Values{2, 2, 2});
}

TEST_CASE("a column times a row gives each the sum over the other") {
  const Tensor column = ones({4, 1});
  const Tensor row = ones({1, 3});
  ops::sum(column * row).backward();
  CHECK(column.grad().to_vector() == Values(4, 3.0));
  CHECK(column.grad().shape() == Shape{4, 1});
  CHECK(row.grad().to_vector() == Values(3, 4.0));
  CHECK(row.grad().shape() == Shape{1, 3});
}

TEST_CASE("missing dimensions are summed away") {
  const Tensor x = ones({3});
  ops::sum(x + ones({2, 3})).backward();
  CHECK(x.grad().shape() == Shape{3});
  CHECK(x.grad().to_vector() == Values{2, 2, 2});
  const Tensor scalar = leaf(Tensor::full({}, 1));
  ops::sum(scalar + ones({2, 2})).backward();
  CHECK(scalar.grad().shape() == Shape{});
  CHECK(scalar.grad().item() == 4);
}

TEST_CASE("one element of an expanded tensor has the gradient 1") {
  const Tensor x = ones({1});
  x.expand({40}).select(0, 7).backward();
  CHECK(x.grad().shape() == Shape{1});
  CHECK(x.grad().item() == 1);
}

TEST_CASE("mean over several axes spreads the gradient evenly") {
  for (const auto& axes : {std::vector<int>{1, 2}, std::vector<int>{-1, -2}}) {
    const Tensor x = leaf(random_tensor({2, 3, 4}, 1));
    const Tensor y = ops::mean(x, axes, /*keepdim=*/true);
    CHECK(y.shape() == Shape{2, 1, 1});
    CHECK(ops::mean(x, axes).shape() == Shape{2});
    ops::sum(y).backward();
    CHECK(x.grad().shape() == Shape{2, 3, 4});
    for (const double value : x.grad().to_vector()) CHECK(value == doctest::Approx(1.0 / 12).epsilon(1e-7));
  }
}

TEST_CASE("operands of an arbitrary pair of shapes have the gradients that differences give") {
  PhiloxStream random(37);
  for (int round = 0; round < 30; ++round) {
    CAPTURE(round);
    // A common shape, and two operands that each lack leading dimensions or have extent 1 in some.
    Shape common;
    const auto dims = static_cast<int>(1 + random.below(4));
    for (int dim = 0; dim < dims; ++dim) common.push_back(1 + random.below(3));
    const auto shrink = [&] {
      Shape shape;
      for (int dim = static_cast<int>(random.below(2)); dim < dims; ++dim) {
        shape.push_back(random.below(3) == 0 ? 1 : common[dim]);
      }
      return shape;
    };
    const auto seed = static_cast<std::uint64_t>(100 + 2 * round);
    const std::vector<Tensor> inputs{leaf(random_tensor(shrink(), seed, DType::kF64)),
                                     leaf(random_tensor(shrink(), seed + 1, DType::kF64, 1, 2))};
    CAPTURE(to_string(inputs[0].shape()));
    CAPTURE(to_string(inputs[1].shape()));
    CHECK(autograd::grad_check([](std::span<const Tensor> x) { return x[0] * x[1] - x[0] / x[1]; }, inputs) == "");
  }
}

TEST_CASE("shapes that do not broadcast are refused with the name of the op") {
  CHECK_THROWS_WITH_AS((void)(ones({2, 3}) + ones({2, 4})),
                       "add: expected shapes that broadcast, got [2, 3] and [2, 4]", ShapeError);
}

}  // namespace
}  // namespace minitorch
