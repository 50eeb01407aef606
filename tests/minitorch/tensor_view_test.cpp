// Views: they share storage, show the right elements, and refuse what they cannot show.
#include <doctest/doctest.h>

#include <vector>

#include "minitorch/base/error.h"
#include "minitorch/base/philox.h"
#include "minitorch/core/tensor.h"

namespace minitorch {
namespace {

using Values = std::vector<double>;

Tensor counting(const Shape& shape) { return Tensor::arange(shape.numel()).view(shape); }

TEST_CASE("permute and transpose reorder dimensions without copying") {
  const Tensor tensor = counting({2, 3, 4});
  const Tensor permuted = tensor.permute({2, 0, 1});
  CHECK(permuted.shape() == Shape{4, 2, 3});
  CHECK(permuted.strides() == Shape{1, 12, 4});
  CHECK(permuted.shares_storage_with(tensor));
  CHECK_FALSE(permuted.is_contiguous());
  CHECK(permuted.select(0, 3).to_vector() == Values{3, 7, 11, 15, 19, 23});
  CHECK(tensor.permute({-1, 0, 1}).strides() == permuted.strides());
  CHECK(counting({2, 3}).transpose(0, -1).to_vector() == Values{0, 3, 1, 4, 2, 5});
  CHECK(Tensor::full({}, 4).permute({}).item() == 4);
}

TEST_CASE("permute and transpose refuse anything but a permutation") {
  const Tensor tensor = counting({2, 3});
  CHECK_THROWS_AS((void)tensor.permute({0}), ShapeError);
  CHECK_THROWS_AS((void)tensor.permute({0, 0}), ShapeError);
  CHECK_THROWS_AS((void)tensor.permute({0, -2}), ShapeError);
  CHECK_THROWS_AS((void)tensor.permute({0, 2}), ShapeError);
  CHECK_THROWS_AS((void)tensor.transpose(0, 2), ShapeError);
}

TEST_CASE("view shows the same elements in another shape and infers one extent") {
  const Tensor tensor = counting({2, 6});
  CHECK(tensor.view({3, 4}).strides() == Shape{4, 1});
  CHECK(tensor.view({-1}).shape() == Shape{12});
  CHECK(tensor.view({2, -1, 3}).shape() == Shape{2, 2, 3});
  CHECK(tensor.view({1, 12, 1}).shape() == Shape{1, 12, 1});
  CHECK(tensor.view({4, 3}).shares_storage_with(tensor));
  CHECK(Tensor::full({1, 1}, 5).view({}).item() == 5);
}

TEST_CASE("view refuses wrong numbers of elements") {
  const Tensor tensor = counting({2, 6});
  CHECK_THROWS_WITH_AS((void)tensor.view({5}), "view: expected a shape for the 12 elements of [2, 6], got [5]",
                       ShapeError);
  CHECK_THROWS_AS((void)tensor.view({-1, 5}), ShapeError);
  CHECK_THROWS_AS((void)tensor.view({-1, -1}), ShapeError);
  CHECK_THROWS_AS((void)tensor.view({-2, 6}), ShapeError);
  CHECK_THROWS_AS((void)tensor.view({0, -1}), ShapeError);
  CHECK_THROWS_AS((void)Tensor::zeros({0, 4}).view({0, -1}), ShapeError);  // any extent would fit
}

TEST_CASE("view splits and joins strided dimensions where memory allows") {
  const Tensor wide = counting({4, 10}).slice(1, {.start = 2, .stop = 8});  // rows 10 apart
  const Tensor heads = wide.view({4, 2, 3});
  CHECK(heads.strides() == Shape{10, 3, 1});
  CHECK(heads.select(0, 1).to_vector() == Values{12, 13, 14, 15, 16, 17});
  CHECK(wide.view({2, 2, 6}).strides() == Shape{20, 10, 1});
  CHECK_THROWS_AS((void)wide.view({24}), ShapeError);
  CHECK_THROWS_AS((void)wide.view({8, 3}), ShapeError);
  CHECK_THROWS_AS((void)counting({2, 3}).transpose(0, 1).view({6}), ShapeError);
}

TEST_CASE("reshape copies only what no view can show") {
  const Tensor tensor = counting({2, 3});
  CHECK(tensor.reshape({3, 2}).shares_storage_with(tensor));
  const Tensor copied = tensor.transpose(0, 1).reshape({6});
  CHECK_FALSE(copied.shares_storage_with(tensor));
  CHECK(copied.to_vector() == Values{0, 3, 1, 4, 2, 5});
  CHECK(counting({2, 3}).expand({4, 2, 3}).reshape({24}).to_vector().at(23) == 5);
  CHECK_THROWS_AS((void)tensor.reshape({7}), ShapeError);
}

TEST_CASE("slice follows Python's rules for bounds") {
  const Tensor tensor = Tensor::arange(10);
  CHECK(tensor.slice(0, {}).to_vector().size() == 10);
  CHECK(tensor.slice(0, {.start = 2, .stop = 5}).to_vector() == Values{2, 3, 4});
  CHECK(tensor.slice(0, {.start = -3}).to_vector() == Values{7, 8, 9});
  CHECK(tensor.slice(0, {.stop = -8}).to_vector() == Values{0, 1});
  CHECK(tensor.slice(0, {.start = 1, .stop = 100, .step = 4}).to_vector() == Values{1, 5, 9});
  CHECK(tensor.slice(0, {.step = 3}).to_vector() == Values{0, 3, 6, 9});
  CHECK(tensor.slice(0, {.start = 5, .stop = 2}).numel() == 0);
  CHECK(tensor.slice(0, {.start = 50}).numel() == 0);
  CHECK(tensor.slice(0, {.start = -50, .stop = 1}).to_vector() == Values{0});
  CHECK(tensor.slice(0, {.start = 4, .step = INT64_MAX}).to_vector() == Values{4});
  CHECK(tensor.slice(0, {.start = INT64_MIN, .stop = INT64_MAX}).numel() == 10);
  CHECK(tensor.slice(0, {.start = 1, .step = 2}).slice(0, {.start = 1, .step = 2}).to_vector() == Values{3, 7});
}

TEST_CASE("slice of a matrix keeps rows and columns apart and refuses bad steps and dimensions") {
  const Tensor tensor = counting({3, 4});
  CHECK(tensor.slice(-1, {.start = 1, .step = 2}).to_vector() == Values{1, 3, 5, 7, 9, 11});
  CHECK(tensor.slice(0, {.step = 2}).to_vector() == Values{0, 1, 2, 3, 8, 9, 10, 11});
  CHECK_THROWS_WITH_AS((void)tensor.slice(0, {.step = 0}), "slice: expected a step of at least 1, got 0", ShapeError);
  CHECK_THROWS_AS((void)tensor.slice(0, {.step = -1}), ShapeError);
  CHECK_THROWS_AS((void)tensor.slice(2, {}), ShapeError);
}

TEST_CASE("select drops a dimension and accepts negative indices") {
  const Tensor tensor = counting({2, 3});
  CHECK(tensor.select(0, 1).to_vector() == Values{3, 4, 5});
  CHECK(tensor.select(1, -1).to_vector() == Values{2, 5});
  CHECK(tensor.select(0, -2).select(0, 2).item() == 2);
  CHECK_THROWS_AS((void)tensor.select(0, 2), ShapeError);
  CHECK_THROWS_AS((void)tensor.select(0, -3), ShapeError);
}

TEST_CASE("expand repeats extents of 1 with stride 0") {
  const Tensor row = counting({3});
  const Tensor expanded = row.expand({2, 3});
  CHECK(expanded.strides() == Shape{0, 1});
  CHECK(expanded.shares_storage_with(row));
  CHECK_FALSE(expanded.is_contiguous());
  CHECK(expanded.to_vector() == Values{0, 1, 2, 0, 1, 2});
  CHECK(counting({2, 1}).expand({2, 3}).to_vector() == Values{0, 0, 0, 1, 1, 1});
  CHECK(Tensor::full({}, 7).expand({2, 2}).to_vector() == Values{7, 7, 7, 7});
  CHECK(counting({1}).expand({0}).numel() == 0);
  CHECK_THROWS_WITH_AS((void)row.expand({3, 2}), "expand: [3] does not broadcast to [3, 2]", ShapeError);
  CHECK_THROWS_AS((void)row.expand({}), ShapeError);
  CHECK_THROWS_AS((void)row.expand({-1, 3}), ShapeError);
}

TEST_CASE("squeeze and unsqueeze remove and add extents of 1") {
  const Tensor tensor = counting({2, 1, 3});
  CHECK(tensor.squeeze(1).shape() == Shape{2, 3});
  CHECK(tensor.squeeze(-2).to_vector() == tensor.to_vector());
  CHECK_THROWS_AS((void)tensor.squeeze(0), ShapeError);
  CHECK(tensor.unsqueeze(0).shape() == Shape{1, 2, 1, 3});
  CHECK(tensor.unsqueeze(-1).shape() == Shape{2, 1, 3, 1});
  CHECK(tensor.unsqueeze(3).is_contiguous());
  CHECK(Tensor::full({}, 2).unsqueeze(0).shape() == Shape{1});
  CHECK_THROWS_AS((void)tensor.unsqueeze(4), ShapeError);
  CHECK_THROWS_AS((void)Tensor::zeros({1, 1, 1, 1, 1, 1, 1, 1}).unsqueeze(0), ShapeError);
}

TEST_CASE("contiguity ignores the strides of extents of 1") {
  CHECK(counting({3, 1}).transpose(0, 1).is_contiguous());
  CHECK(counting({4, 5}).slice(0, {.start = 1, .stop = 2}).is_contiguous());
  CHECK_FALSE(counting({4, 5}).slice(1, {.stop = 4}).is_contiguous());
  CHECK(counting({4, 5}).slice(0, {.start = 2}).is_contiguous());
}

// The element at a multi-index, straight from strides and offset.
double element_at(const Tensor& tensor, std::int64_t linear) {
  std::int64_t index = 0;
  for (int dim = tensor.dims() - 1; dim >= 0; --dim) {
    index += linear % tensor.shape()[dim] * tensor.strides()[dim];
    linear /= tensor.shape()[dim];
  }
  return static_cast<double>(tensor.data<float>()[index]);
}

TEST_CASE("chains of random views agree with the same chains of copies") {
  PhiloxStream random(11);
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    Tensor view = counting({2, 3, 4, 5});
    Tensor copy = view;
    for (int step = 0; step < 4 && view.dims() > 0 && view.numel() > 0; ++step) {
      const int dim = static_cast<int>(random.below(static_cast<std::uint32_t>(view.dims())));
      const std::uint32_t kind = random.below(4);
      const auto size = static_cast<std::uint32_t>(view.size(dim));
      const Slice bounds{.start = random.below(size), .stop = Slice::kEnd, .step = 1 + random.below(3)};
      const int other = static_cast<int>(random.below(static_cast<std::uint32_t>(view.dims())));
      const auto apply = [&](const Tensor& t) {
        if (kind == 0) return t.slice(dim, bounds);
        if (kind == 1) return t.transpose(dim, other);
        if (kind == 2) return t.unsqueeze(dim);
        return t.reshape({t.size(0), -1});
      };
      view = apply(view);
      copy = apply(copy).clone();
    }
    Values expected;
    for (std::int64_t i = 0; i < view.numel(); ++i) expected.push_back(element_at(view, i));
    CHECK(copy.to_vector() == expected);
    CHECK(view.to_vector() == expected);
  }
}

}  // namespace
}  // namespace minitorch
