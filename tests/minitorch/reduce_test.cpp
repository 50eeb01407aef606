// Reductions: values, shapes, ties, refusals.
#include "minitorch/ops/reduce.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "minitorch/base/error.h"
#include "tests/minitorch/gradient_support.h"

namespace minitorch::ops {
namespace {

using test::leaf;
using test::tensor_of;
using test::Values;

const Tensor& sample() {
  static const Tensor tensor = tensor_of({1, 5, 3, -2, 5, 7}, {2, 3});
  return tensor;
}

TEST_CASE("sum and mean reduce the dimensions that are named, or all") {
  CHECK(sum(sample()).shape() == Shape{});
  CHECK(sum(sample()).item() == 19);
  CHECK(mean(sample()).item() == doctest::Approx(19.0 / 6));
  CHECK(sum(sample(), {0}).to_vector() == Values{-1, 10, 10});
  CHECK(sum(sample(), {1}).to_vector() == Values{9, 10});
  CHECK(sum(sample(), {-1}, /*keepdim=*/true).shape() == Shape{2, 1});
  CHECK(mean(sample(), {1}).to_vector()[0] == 3);
  CHECK(sum(sample(), {1, 0}, /*keepdim=*/true).shape() == Shape{1, 1});
  const Tensor cube = Tensor::arange(24).view({2, 3, 4});
  CHECK(sum(cube, {0, 2}).to_vector() == Values{60, 92, 124});
  CHECK(sum(cube.permute({2, 1, 0}), {0, 2}).to_vector() == Values{60, 92, 124});
  CHECK(sum(cube.slice(2, {.step = 3}), {1, 2}).to_vector() == Values{33, 105});
  CHECK(sum(Tensor::full({1}, 0.5).expand({1000, 3}), {0}).to_vector() == Values{500, 500, 500});
}

TEST_CASE("the sum of nothing is 0 and its mean is no number") {
  CHECK(sum(Tensor::zeros({0, 2}), {0}).to_vector() == Values{0, 0});
  CHECK(sum(Tensor::zeros({2, 0}), {0}).shape() == Shape{0});
  CHECK(std::isnan(mean(Tensor::zeros({0})).item()));
}

TEST_CASE("max and min give values, argmax and argmin the first place") {
  CHECK(max(sample(), 1).to_vector() == Values{5, 7});
  CHECK(min(sample(), 0).to_vector() == Values{-2, 5, 3});
  CHECK(max(sample(), -1, /*keepdim=*/true).shape() == Shape{2, 1});
  CHECK(argmax(sample(), 0).dtype() == DType::kI64);
  CHECK(argmax(sample(), 0).to_vector() == Values{0, 0, 1});
  CHECK(argmin(sample(), 1).to_vector() == Values{0, 0});
  CHECK(argmax(sample().transpose(0, 1), 0).to_vector() == Values{1, 2});
  CHECK_FALSE(argmax(leaf(sample()), 0).requires_grad());
}

TEST_CASE("the gradient of a maximum goes to the first of equal elements") {
  const Tensor x = leaf(tensor_of({3, 7, 7, 7}, {4}));
  max(x, 0).backward();
  CHECK(x.grad().to_vector() == Values{0, 1, 0, 0});
  const Tensor y = leaf(tensor_of({3, 1, 1}, {3}));
  min(y, 0).backward();
  CHECK(y.grad().to_vector() == Values{0, 1, 0});
}

TEST_CASE("sum_to undoes broadcasting") {
  CHECK(sum_to(sample(), {3}).to_vector() == Values{-1, 10, 10});
  CHECK(sum_to(sample(), {2, 1}).to_vector() == Values{9, 10});
  CHECK(sum_to(sample(), {1, 1}).shape() == Shape{1, 1});
  CHECK(sum_to(sample(), {}).item() == 19);
  CHECK(sum_to(sample(), {2, 3}).shares_storage_with(sample()));
  CHECK_THROWS_WITH_AS((void)sum_to(sample(), {2}), "sum_to: expected shapes that broadcast, got [2, 3] and [2]",
                       ShapeError);
  CHECK_THROWS_WITH_AS((void)sum_to(sample(), {4, 2, 3}),
                       "sum_to: expected a shape that broadcasts to [2, 3], got [4, 2, 3]", ShapeError);
  CHECK_THROWS_AS((void)sum_to(Tensor::zeros({1}), {3}), ShapeError);
}

TEST_CASE("reductions refuse unknown and repeated dimensions, empty maxima and other types") {
  CHECK_THROWS_WITH_AS((void)sum(sample(), {2}), "sum: expected a dimension in [-2, 2), got 2", ShapeError);
  CHECK_THROWS_WITH_AS((void)mean(sample(), {0, -2}),
                       "mean: expected every dimension of [2, 3] at most once, got -2 twice", ShapeError);
  CHECK_THROWS_WITH_AS((void)max(Tensor::zeros({2, 0}), 1),
                       "max: expected at least one element in dimension 1, got [2, 0]", ShapeError);
  CHECK_THROWS_AS((void)argmin(Tensor::zeros({0}), 0), ShapeError);
  CHECK_THROWS_AS((void)sum(Tensor::zeros({2}, DType::kI64)), DTypeError);
}

}  // namespace
}  // namespace minitorch::ops
