// matmul and linear: values for every kind of shape and layout, refusals, and agreement with packed weights.
#include "minitorch/ops/matmul.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "minitorch/base/error.h"
#include "minitorch/core/execution_scope.h"
#include "minitorch/core/packed_matrix.h"
#include "minitorch/ops/index.h"
#include "minitorch/ops/inference.h"
#include "minitorch/ops/operators.h"
#include "tests/minitorch/gradient_support.h"

namespace minitorch::ops {
namespace {

using test::random_tensor;
using test::tensor_of;
using test::Values;

// a [M, K] b [K, N] element by element.
Tensor product(const Tensor& a, const Tensor& b) {
  const std::int64_t rows = a.size(0), inner = a.size(1), cols = b.size(1);
  const Values x = a.to_vector();
  const Values y = b.to_vector();
  Values result;
  for (std::int64_t m = 0; m < rows; ++m) {
    for (std::int64_t n = 0; n < cols; ++n) {
      double sum = 0;
      for (std::int64_t k = 0; k < inner; ++k) {
        sum += x[static_cast<std::size_t>(m * inner + k)] * y[static_cast<std::size_t>(k * cols + n)];
      }
      result.push_back(sum);
    }
  }
  return tensor_of(result, {rows, cols}, DType::kF64);
}

TEST_CASE("matmul multiplies matrices in both types and for every layout") {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const Tensor a = random_tensor({7, 5}, 1, dtype);
    const Tensor b = random_tensor({5, 9}, 2, dtype);
    const Tensor expected = product(a, b);
    const double tolerance = dtype == DType::kF32 ? 1e-6 : 1e-15;
    const Tensor a_by_columns = a.transpose(0, 1).clone().transpose(0, 1);
    const Tensor b_by_columns = b.transpose(0, 1).clone().transpose(0, 1);
    const Tensor b_in_wider = cat(std::vector{b, b}, 1).slice(1, {.stop = 9});
    for (const Tensor& left : {a, a_by_columns}) {
      for (const Tensor& right : {b, b_by_columns, b_in_wider}) {
        const Tensor c = matmul(left, right);
        CHECK(c.dtype() == dtype);
        CHECK(c.is_contiguous());
        CHECK(test::distance(c, expected) < tolerance);
      }
    }
    CHECK(test::distance(matmul(a.slice(0, {.step = 3}), b), expected.slice(0, {.step = 3})) < tolerance);
    CHECK(test::distance(matmul(Tensor::full({1}, 2, dtype).expand({3, 5}), b),
                         product(Tensor::full({3, 5}, 2, dtype), b)) < tolerance);
  }
}

TEST_CASE("vectors stand for one row or column, which vanishes from the result") {
  const Tensor x = tensor_of({1, 2}, {2});
  const Tensor m = tensor_of({1, 2, 3, 4, 5, 6}, {2, 3});
  CHECK(matmul(x, m).to_vector() == Values{9, 12, 15});
  CHECK(matmul(x, m).shape() == Shape{3});
  CHECK(matmul(m.transpose(0, 1), x).to_vector() == Values{9, 12, 15});
  CHECK(matmul(x, x).shape() == Shape{});
  CHECK(matmul(x, x).item() == 5);
  CHECK(matmul(Tensor::zeros({4, 5, 2, 3}), Tensor::zeros({3})).shape() == Shape{4, 5, 2});
  CHECK(matmul(Tensor::zeros({3}), Tensor::zeros({4, 5, 3, 2})).shape() == Shape{4, 5, 2});
}

TEST_CASE("leading dimensions broadcast, whatever their layout") {
  const Tensor a = random_tensor({2, 1, 3, 4}, 3);
  const Tensor b = random_tensor({5, 4, 2}, 4);
  const auto check = [](const Tensor& left, const Tensor& right) {
    const Tensor c = matmul(left, right);
    REQUIRE(c.shape() == Shape{2, 5, 3, 2});
    for (std::int64_t i = 0; i < 2; ++i) {
      for (std::int64_t j = 0; j < 5; ++j) {
        CHECK(test::distance(c.select(0, i).select(0, j), product(left.select(0, i).select(0, 0), right.select(0, j))) <
              1e-6);
      }
    }
  };
  check(a, b);
  check(a, b.permute({1, 2, 0}).clone().permute({2, 0, 1}));
  check(a.permute({3, 0, 1, 2}).clone().permute({1, 2, 3, 0}), b);
  // One matrix for all rows of a batch.
  const Tensor tall = random_tensor({3, 4, 5}, 5);
  const Tensor shared = random_tensor({5, 6}, 6);
  const Tensor flat = product(tall.view({12, 5}), shared);
  CHECK(test::distance(matmul(tall, shared), flat.view({3, 4, 6})) < 1e-6);
  CHECK(test::distance(matmul(tall.transpose(0, 1), shared), flat.view({3, 4, 6}).transpose(0, 1)) < 1e-6);
}

TEST_CASE("empty products are empty or zero") {
  CHECK(matmul(Tensor::zeros({0, 3}), Tensor::zeros({3, 2})).shape() == Shape{0, 2});
  CHECK(matmul(Tensor::zeros({2, 3}), Tensor::zeros({3, 0})).shape() == Shape{2, 0});
  CHECK(matmul(Tensor::zeros({2, 0}), Tensor::zeros({0, 3})).to_vector() == Values(6, 0.0));
  CHECK(matmul(Tensor::zeros({0, 2, 3}), Tensor::zeros({3, 4})).shape() == Shape{0, 2, 4});
}

TEST_CASE("matmul refuses what does not fit") {
  CHECK_THROWS_WITH_AS((void)matmul(Tensor::zeros({2, 3}), Tensor::zeros({4, 2})),
                       "matmul: expected [..., M, K] and [..., K, N] with one K, got [2, 3] and [4, 2]", ShapeError);
  CHECK_THROWS_AS((void)matmul(Tensor::zeros({2, 2, 3}), Tensor::zeros({3, 3, 2})), ShapeError);
  CHECK_THROWS_AS((void)matmul(Tensor::zeros({}), Tensor::zeros({2})), ShapeError);
  CHECK_THROWS_AS((void)matmul(Tensor::zeros({2, 2}), Tensor::zeros({2, 2}, DType::kF64)), DTypeError);
  CHECK_THROWS_AS((void)matmul(Tensor::zeros({2, 2}, DType::kBF16), Tensor::zeros({2, 2}, DType::kBF16)), DTypeError);
}

TEST_CASE("linear equals the packed linear of inference bit for bit") {
  const Tensor x = random_tensor({6, 33}, 7);
  const Tensor weight = random_tensor({21, 33}, 8);
  const Tensor bias = random_tensor({21}, 9);
  const Tensor residual = random_tensor({6, 21}, 10);
  const Tensor by_columns = weight.transpose(0, 1).clone().transpose(0, 1);
  const PackedMatrix packed = pack(weight, kernels::PackedFormat::kF32);
  for (const kernels::KernelTable* table : kernels::cpu_tables()) {
    CAPTURE(table->name);
    const ExecutionScope scope({.runtime = {.table = table}});
    CHECK(linear(x, weight).to_vector() == linear(x, packed).to_vector());
    CHECK(linear(x, by_columns).to_vector() == linear(x, packed).to_vector());
    CHECK(linear(x, weight, bias, residual).to_vector() == linear(x, packed, bias, residual).to_vector());
  }
}

TEST_CASE("linear takes any number of leading dimensions") {
  const Tensor weight = tensor_of({1, 2, 3, 4, 5, 6}, {2, 3});
  CHECK(linear(tensor_of({1, 0, 2}, {3}), weight).to_vector() == Values{7, 16});
  CHECK(linear(Tensor::zeros({2, 4, 3}), weight, tensor_of({1, -1}, {2})).shape() == Shape{2, 4, 2});
  CHECK(linear(Tensor::zeros({0, 3}), weight).shape() == Shape{0, 2});
}

TEST_CASE("linear refuses what does not fit and says what it expected") {
  const Tensor weight = Tensor::zeros({4, 5});
  const Tensor x = Tensor::zeros({2, 5});
  CHECK_THROWS_WITH_AS((void)linear(Tensor::zeros({2, 6}), weight),
                       "linear: expected x [..., 5] for weight [4, 5], got [2, 6]", ShapeError);
  CHECK_THROWS_WITH_AS((void)linear(x, weight, Tensor::zeros({5})), "linear: expected bias of shape [4], got [5]",
                       ShapeError);
  CHECK_THROWS_AS((void)linear(x, weight, {}, Tensor::zeros({4})), ShapeError);
  CHECK_THROWS_AS((void)linear(x, Tensor::zeros({5})), ShapeError);
  CHECK_THROWS_AS((void)linear(x, weight, Tensor::zeros({4}, DType::kF64)), DTypeError);
}

TEST_CASE("packed weights refuse to lose a gradient") {
  const PackedMatrix packed = pack(Tensor::zeros({4, 5}), kernels::PackedFormat::kF32);
  const Tensor x = test::leaf(Tensor::zeros({2, 5}));
  CHECK_THROWS_WITH_AS(
      (void)linear(x, packed),
      "linear: expected x that requires no gradient, got one whose gradient would be lost; detach() it", Error);
  CHECK_NOTHROW((void)linear(x.detach(), packed));
  const NoGradGuard guard;
  CHECK_NOTHROW((void)linear(x, packed));
}

}  // namespace
}  // namespace minitorch::ops
