// Shapes: counting elements, strides, broadcasting, dimensions.
#include "minitorch/core/shape.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "minitorch/base/error.h"

namespace minitorch {
namespace {

TEST_CASE("the number of elements is the product of the extents, 1 for a scalar and 0 with an empty extent") {
  CHECK(Shape{}.numel() == 1);
  CHECK(Shape{2, 3, 4}.numel() == 24);
  CHECK(Shape{5, 0, 7}.numel() == 0);
}

TEST_CASE("negative extents and products beyond 2^63 are refused, also beside an empty extent") {
  CHECK_THROWS_WITH_AS((void)(Shape{2, -1}.numel()), "shape: expected extents of at least 0, got [2, -1]", ShapeError);
  const std::int64_t half = std::int64_t{1} << 32;
  CHECK_THROWS_AS((void)(Shape{half, half}.numel()), ShapeError);
  CHECK_THROWS_AS((void)(Shape{0, half, half}.numel()), ShapeError);
  CHECK((Shape{half, half / 2 - 1}.numel()) == half * (half / 2 - 1));
}

TEST_CASE("a shape has at most 8 dimensions") {
  Shape shape{1, 2, 3, 4, 5, 6, 7, 8};
  CHECK_THROWS_AS(shape.push_back(9), ShapeError);
  CHECK_THROWS_AS(shape.insert(0, 9), ShapeError);
  CHECK(shape == Shape{1, 2, 3, 4, 5, 6, 7, 8});
  const std::vector<std::int64_t> nine(9, 1);
  CHECK_THROWS_AS(Shape{std::span(nine)}, ShapeError);
}

TEST_CASE("insert and erase move the extents behind them") {
  Shape shape{1, 2, 3};
  shape.insert(1, 9);
  CHECK(shape == Shape{1, 9, 2, 3});
  shape.insert(4, 7);
  CHECK(shape == Shape{1, 9, 2, 3, 7});
  shape.erase(0);
  CHECK(shape == Shape{9, 2, 3, 7});
  shape.erase(3);
  CHECK(shape == Shape{9, 2, 3});
  CHECK_THROWS_AS(shape.erase(3), ShapeError);
  CHECK_THROWS_AS(shape.insert(5, 1), ShapeError);
}

TEST_CASE("shapes are equal only with the same number of dimensions") {
  CHECK(Shape{2, 3} == Shape{2, 3});
  CHECK(Shape{2, 3} != Shape{2, 3, 1});
  CHECK(Shape{2, 3} != Shape{3, 2});
  CHECK(to_string(Shape{2, 3}) == "[2, 3]");
  CHECK(to_string(Shape{}) == "[]");
}

TEST_CASE("contiguous strides count elements from the last dimension on") {
  CHECK(contiguous_strides({2, 3, 4}) == Shape{12, 4, 1});
  CHECK(contiguous_strides({}) == Shape{});
  CHECK(contiguous_strides({2, 0, 4}) == Shape{4, 4, 1});
}

TEST_CASE("broadcasting aligns shapes at the end and stretches extents of 1") {
  CHECK(broadcast_shapes("add", {2, 3}, {3}) == Shape{2, 3});
  CHECK(broadcast_shapes("add", {3}, {2, 3}) == Shape{2, 3});
  CHECK(broadcast_shapes("add", {4, 1}, {1, 3}) == Shape{4, 3});
  CHECK(broadcast_shapes("add", {}, {2, 2}) == Shape{2, 2});
  CHECK(broadcast_shapes("add", {1}, {0}) == Shape{0});
  CHECK(broadcast_shapes("add", {0, 3}, {1, 3}) == Shape{0, 3});
  CHECK_THROWS_WITH_AS((void)broadcast_shapes("add", {2, 3}, {2}),
                       "add: expected shapes that broadcast, got [2, 3] and [2]", ShapeError);
  CHECK_THROWS_AS((void)broadcast_shapes("add", {0}, {2}), ShapeError);
}

TEST_CASE("dimensions count from the end when negative") {
  CHECK(normalize_dim("sum", 0, 3) == 0);
  CHECK(normalize_dim("sum", 2, 3) == 2);
  CHECK(normalize_dim("sum", -1, 3) == 2);
  CHECK(normalize_dim("sum", -3, 3) == 0);
  CHECK_THROWS_WITH_AS((void)normalize_dim("sum", 3, 3), "sum: expected a dimension in [-3, 3), got 3", ShapeError);
  CHECK_THROWS_AS((void)normalize_dim("sum", -4, 3), ShapeError);
  CHECK_THROWS_AS((void)normalize_dim("sum", 0, 0), ShapeError);
}

}  // namespace
}  // namespace minitorch
