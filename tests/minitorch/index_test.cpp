// Ops that pick, place and join elements: values, shapes, refusals.
#include "minitorch/ops/index.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "minitorch/base/error.h"
#include "tests/minitorch/gradient_support.h"

namespace minitorch::ops {
namespace {

using test::leaf;
using test::tensor_of;
using test::Values;
using Ids = std::vector<std::int32_t>;

Tensor places(const std::vector<std::int64_t>& values, const Shape& shape) { return Tensor::from(values, shape); }
Tensor counting(const Shape& shape) { return Tensor::arange(shape.numel()).view(shape); }

TEST_CASE("embedding looks rows up and adds gradients up where ids repeat") {
  const Tensor table = leaf(counting({4, 2}));
  const Tensor rows = embedding(table, Ids{3, 0, 3});
  CHECK(rows.to_vector() == Values{6, 7, 0, 1, 6, 7});
  rows.backward(tensor_of({1, 2, 3, 4, 5, 6}, {3, 2}));
  CHECK(table.grad().to_vector() == Values{3, 4, 0, 0, 0, 0, 6, 8});
  CHECK(embedding(table, Ids{}).shape() == Shape{0, 2});
  CHECK(embedding(counting({2, 4}).transpose(0, 1), Ids{1}).to_vector() == Values{1, 5});
}

TEST_CASE("embedding refuses ids outside the table and names the first") {
  const Tensor table = Tensor::zeros({4, 2});
  CHECK_THROWS_WITH_AS((void)embedding(table, Ids{0, 4, 9}), "embedding: expected ids in [0, 4), got 4", Error);
  CHECK_THROWS_AS((void)embedding(table, Ids{-1}), Error);
  CHECK_THROWS_AS((void)embedding(Tensor::zeros({4}), Ids{0}), ShapeError);
  CHECK_THROWS_AS((void)embedding(Tensor::zeros({4, 2}, DType::kBF16), Ids{0}), DTypeError);
}

TEST_CASE("gather picks along one dimension, and scatter_add puts back") {
  const Tensor x = counting({2, 3});
  const Tensor index = places({2, 0, 1, 1}, {2, 2});
  CHECK(gather(x, 1, index).to_vector() == Values{2, 0, 4, 4});
  CHECK(gather(x.transpose(0, 1), 0, index.transpose(0, 1)).to_vector() == Values{2, 4, 0, 4});
  CHECK(gather(x, 0, places({1, 0, 1}, {1, 3})).to_vector() == Values{3, 1, 5});
  const Tensor back = scatter_add(tensor_of({1, 2, 3, 4}, {2, 2}), -1, index, 3);
  CHECK(back.shape() == Shape{2, 3});
  CHECK(back.to_vector() == Values{2, 0, 1, 0, 7, 0});
  CHECK(gather(x, 1, places({}, {2, 0})).shape() == Shape{2, 0});
}

TEST_CASE("gather and scatter_add refuse indices that do not fit") {
  const Tensor x = Tensor::zeros({2, 3});
  CHECK_THROWS_WITH_AS((void)gather(x, 1, places({0, 3}, {2, 1})), "gather: expected indices in [0, 3), got 3", Error);
  CHECK_THROWS_WITH_AS((void)gather(x, 1, places({0, 0, 0}, {3, 1})),
                       "gather: expected an index of shape [2, 3] but for dimension 1, got [3, 1]", ShapeError);
  CHECK_THROWS_AS((void)gather(x, 1, places({0, 0}, {2})), ShapeError);
  CHECK_THROWS_AS((void)gather(x, 1, Tensor::zeros({2, 1}, DType::kI32)), DTypeError);
  CHECK_THROWS_AS((void)scatter_add(x, 0, places({0}, {1}), 3), ShapeError);
  CHECK_THROWS_AS((void)scatter_add(Tensor::zeros({1}), 0, places({-1}, {1}), 3), Error);
  CHECK_THROWS_AS((void)scatter_add(Tensor::zeros({1}), 0, places({0}, {1}), -1), ShapeError);
}

TEST_CASE("cat joins along a dimension and stack along a new one") {
  const Tensor a = counting({2, 2});
  const Tensor b = tensor_of({7, 8}, {2, 1});
  CHECK(cat(std::vector{a, b}, 1).to_vector() == Values{0, 1, 7, 2, 3, 8});
  CHECK(cat(std::vector{a, a.transpose(0, 1)}, 0).to_vector() == Values{0, 1, 2, 3, 0, 2, 1, 3});
  CHECK(cat(std::vector{a}, -1).to_vector() == a.to_vector());
  CHECK_FALSE(cat(std::vector{a}, 0).shares_storage_with(a));
  CHECK(stack(std::vector{a, a}, 0).shape() == Shape{2, 2, 2});
  CHECK(stack(std::vector{tensor_of({1, 2}, {2}), tensor_of({3, 4}, {2})}, -1).to_vector() == Values{1, 3, 2, 4});
  CHECK(cat(std::vector{places({1}, {1}), places({2}, {1})}, 0).to_vector() == Values{1, 2});
}

TEST_CASE("cat and stack refuse nothing, mixed types and shapes that differ elsewhere") {
  const Tensor a = Tensor::zeros({2, 2});
  CHECK_THROWS_AS((void)cat({}, 0), ShapeError);
  CHECK_THROWS_AS((void)stack({}, 0), ShapeError);
  CHECK_THROWS_WITH_AS((void)cat(std::vector{a, Tensor::zeros({3, 2})}, 1),
                       "cat: expected tensors of shape [2, 2] but for dimension 1, got [3, 2]", ShapeError);
  CHECK_THROWS_AS((void)cat(std::vector{a, a.to(DType::kF64)}, 0), DTypeError);
  CHECK_THROWS_AS((void)cat(std::vector{a, a}, 2), ShapeError);
  CHECK_THROWS_AS((void)stack(std::vector{a, Tensor::zeros({2, 1})}, 0), ShapeError);
}

TEST_CASE("slice_backward puts its argument where the slice would be") {
  CHECK(slice_backward(tensor_of({1, 2}, {2}), {5}, 0, {.start = 1, .stop = 5, .step = 2}).to_vector() ==
        Values{0, 1, 0, 2, 0});
  CHECK(slice_backward(tensor_of({1, 2}, {2, 1}), {2, 2}, 1, {.start = -1}).to_vector() == Values{0, 1, 0, 2});
  CHECK_THROWS_WITH_AS((void)slice_backward(Tensor::zeros({3}), {5}, 0, {.stop = 2}),
                       "slice_backward: expected x of shape [2], got [3]", ShapeError);
}

}  // namespace
}  // namespace minitorch::ops
