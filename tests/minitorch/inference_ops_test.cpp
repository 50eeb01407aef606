// The decoder's ops: they pass the right views to the kernels and refuse shapes that do not fit. Numerics:
// tests/kernels.
#include "minitorch/ops/inference.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "minitorch/base/error.h"
#include "minitorch/base/philox.h"
#include "minitorch/core/execution_scope.h"

namespace minitorch::ops {
namespace {

using kernels::PackedFormat;
using Values = std::vector<double>;

Tensor random_tensor(const Shape& shape, std::uint64_t seed) {
  PhiloxStream random(seed);
  Tensor tensor = Tensor::empty(shape);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.data<float>()[i] = 2 * random.uniform() - 1;
  return tensor;
}

// The same elements with rows that lie apart.
Tensor with_gaps(const Tensor& matrix) {
  const Tensor wide = Tensor::full({matrix.size(0), matrix.size(1) + 3}, -77);
  const Tensor view = wide.slice(1, {.start = 2, .stop = 2 + matrix.size(1)});
  view.copy_(matrix);
  return view;
}

// The same elements with columns that lie apart.
Tensor by_columns(const Tensor& matrix) { return matrix.transpose(0, 1).clone().transpose(0, 1); }

bool close(const Tensor& a, const Values& expected) {
  const Values values = a.to_vector();
  if (values.size() != expected.size()) return false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(std::abs(values[i] - expected[i]) <= 1e-5 * (1 + std::abs(expected[i])))) return false;
  }
  return true;
}

TEST_CASE("linear multiplies by the transposed weight and adds bias and residual, for every layout of its inputs") {
  const Tensor x = random_tensor({3, 5}, 1);
  const Tensor w = random_tensor({18, 5}, 2);
  const Tensor bias = random_tensor({18}, 3);
  const Tensor residual = random_tensor({3, 18}, 4);
  Values plain;
  Values full;
  for (std::int64_t m = 0; m < 3; ++m) {
    for (std::int64_t n = 0; n < 18; ++n) {
      double sum = 0;
      for (std::int64_t k = 0; k < 5; ++k) sum += double{x.data<float>()[m * 5 + k]} * w.data<float>()[n * 5 + k];
      plain.push_back(sum);
      full.push_back(sum + bias.data<float>()[n] + residual.data<float>()[m * 18 + n]);
    }
  }
  const PackedMatrix weight = pack(w, PackedFormat::kF32);
  CHECK(close(linear(x, weight), plain));
  CHECK(linear(x, weight).shape() == Shape{3, 18});
  const Tensor spread_bias = with_gaps(bias.unsqueeze(1)).select(1, 0);
  for (const Tensor& input : {x, with_gaps(x), by_columns(x)}) {
    for (const Tensor& added : {residual, with_gaps(residual), by_columns(residual)}) {
      CHECK(close(linear(input, weight, bias, added), full));
      CHECK(close(linear(input, weight, spread_bias, added), full));
    }
  }
  CHECK(linear(Tensor::zeros({0, 5}), weight).shape() == Shape{0, 18});
}

TEST_CASE("linear and gather_rows take int8 weights, for every layout of x, within the error of the quantisation") {
  const Tensor x = random_tensor({3, 45}, 1);
  const Tensor w = random_tensor({18, 45}, 2);
  const Tensor bias = random_tensor({18}, 3);
  const PackedMatrix exact = pack(w, PackedFormat::kF32);
  const PackedMatrix weight = pack(w, PackedFormat::kInt8);
  const Values expected = linear(x, exact, bias).to_vector();
  const Values y = linear(x, weight, bias).to_vector();
  CHECK(y != expected);
  // Each factor is off by at most half of 1/127 of a magnitude below 1.
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(std::abs(y[i] - expected[i]) < 45 * 1.01 / 127);
  for (const Tensor& input : {with_gaps(x), by_columns(x)}) CHECK(linear(input, weight, bias).to_vector() == y);
  const std::vector<std::int32_t> ids{17, 0};
  const Values rows = gather_rows(weight, ids).to_vector();
  const Values exact_rows = gather_rows(exact, ids).to_vector();
  for (std::size_t i = 0; i < rows.size(); ++i) CHECK(std::abs(rows[i] - exact_rows[i]) < 0.51 / 127);
}

TEST_CASE("linear refuses what does not fit and says what it expected") {
  const PackedMatrix weight = pack(Tensor::zeros({4, 5}), PackedFormat::kF32);
  const Tensor x = Tensor::zeros({2, 5});
  CHECK_THROWS_WITH_AS((void)linear(Tensor::zeros({2, 6}), weight),
                       "linear: expected x [M, 5] for weight [4, 5], got [2, 6]", ShapeError);
  CHECK_THROWS_AS((void)linear(Tensor::zeros({5}), weight), ShapeError);
  CHECK_THROWS_WITH_AS((void)linear(x.to(DType::kF64), weight), "linear: expected x of dtype f32, got f64", DTypeError);
  CHECK_THROWS_WITH_AS((void)linear(x, weight, Tensor::zeros({5})), "linear: expected bias of shape [4], got [5]",
                       ShapeError);
  CHECK_THROWS_AS((void)linear(x, weight, Tensor::zeros({4}, DType::kBF16)), DTypeError);
  CHECK_THROWS_AS((void)linear(x, weight, {}, Tensor::zeros({1, 4})), ShapeError);
  CHECK_THROWS_AS((void)linear(x, PackedMatrix()), Error);
  CHECK_THROWS_AS((void)linear(Tensor(), weight), Error);
}

TEST_CASE("gather_rows looks rows up and refuses ids outside the table") {
  const PackedMatrix table = pack(Tensor::arange(20 * 3).view({20, 3}), PackedFormat::kF32);
  const std::vector<std::int32_t> ids{19, 0, 19};
  CHECK(gather_rows(table, ids).to_vector() == Values{57, 58, 59, 0, 1, 2, 57, 58, 59});
  CHECK(gather_rows(table, {}).shape() == Shape{0, 3});
  for (const std::int32_t id : {20, -1, INT32_MAX}) {
    CHECK_THROWS_AS((void)gather_rows(table, std::vector<std::int32_t>{0, id}), Error);
  }
  CHECK_THROWS_WITH_AS((void)gather_rows(table, std::vector<std::int32_t>{20}),
                       "gather_rows: expected ids in [0, 20), got 20", Error);
  CHECK_THROWS_AS((void)gather_rows(PackedMatrix(), ids), Error);
}

TEST_CASE("rms_norm scales every row for every layout of its input") {
  const Tensor x = random_tensor({4, 7}, 5);
  const Tensor weight = random_tensor({7}, 6);
  Values expected;
  for (std::int64_t m = 0; m < 4; ++m) {
    double squares = 0;
    for (std::int64_t c = 0; c < 7; ++c) squares += std::pow(double{x.data<float>()[m * 7 + c]}, 2);
    for (std::int64_t c = 0; c < 7; ++c) {
      expected.push_back(x.data<float>()[m * 7 + c] / std::sqrt(squares / 7 + 1e-3) * weight.data<float>()[c]);
    }
  }
  for (const Tensor& input : {x, with_gaps(x), by_columns(x)}) CHECK(close(rms_norm(input, weight, 1e-3F), expected));
  CHECK_THROWS_WITH_AS((void)rms_norm(x, Tensor::zeros({6}), 0), "rms_norm: expected weight of shape [7], got [6]",
                       ShapeError);
  CHECK_THROWS_AS((void)rms_norm(Tensor::zeros({}), weight, 0), ShapeError);
  CHECK_THROWS_AS((void)rms_norm(x, weight.to(DType::kBF16), 0), DTypeError);
}

TEST_CASE("rope_ rotates in place within strided rows") {
  const Tensor wide = random_tensor({2, 14}, 7);
  const Tensor before = wide.clone();
  const Tensor x = wide.slice(1, {.start = 1, .stop = 13}).view({2, 3, 4});
  const Tensor cos = random_tensor({2, 2}, 8);
  const Tensor sin = random_tensor({2, 2}, 9);
  const Values expected = [&] {
    Values values = before.to_vector();
    for (std::size_t m = 0; m < 2; ++m) {
      for (std::size_t head = 0; head < 3; ++head) {
        for (std::size_t d = 0; d < 2; ++d) {
          double& low = values[m * 14 + 1 + head * 4 + d];
          double& high = values[m * 14 + 1 + head * 4 + 2 + d];
          const double c = cos.data<float>()[m * 2 + d];
          const double s = sin.data<float>()[m * 2 + d];
          const double rotated = low * c - high * s;
          high = high * c + low * s;
          low = rotated;
        }
      }
    }
    return values;
  }();
  rope_(x, by_columns(cos), sin);
  CHECK(close(wide, expected));
}

TEST_CASE("rope_ refuses odd widths, wrong angles and rows it cannot rotate in place") {
  const Tensor angles = Tensor::zeros({2, 2});
  const Tensor x = Tensor::zeros({2, 3, 4});
  CHECK_THROWS_AS(rope_(Tensor::zeros({2, 3, 5}), angles, angles), ShapeError);
  CHECK_THROWS_AS(rope_(Tensor::zeros({2, 12}), angles, angles), ShapeError);
  CHECK_THROWS_WITH_AS(rope_(x, Tensor::zeros({2, 4}), angles), "rope_: expected cos of shape [2, 2], got [2, 4]",
                       ShapeError);
  CHECK_THROWS_AS(rope_(x, angles, Tensor::zeros({3, 2})), ShapeError);
  CHECK_THROWS_AS(rope_(x.transpose(1, 2).clone().transpose(1, 2), angles, angles), ShapeError);
  CHECK_THROWS_AS(rope_(Tensor::zeros({1, 3, 4}).expand({2, 3, 4}), angles, angles), ShapeError);
  CHECK_THROWS_AS(rope_(x.to(DType::kF64), angles, angles), DTypeError);
  CHECK_NOTHROW(rope_(Tensor::zeros({0, 3, 4}), Tensor::zeros({0, 2}), Tensor::zeros({0, 2})));
}

TEST_CASE("silu_mul gates the second half with the first for every layout of its input") {
  const Tensor gate_up = random_tensor({3, 10}, 10);
  Values expected;
  for (std::int64_t m = 0; m < 3; ++m) {
    for (std::int64_t f = 0; f < 5; ++f) {
      const double gate = gate_up.data<float>()[m * 10 + f];
      expected.push_back(gate / (1 + std::exp(-gate)) * gate_up.data<float>()[m * 10 + 5 + f]);
    }
  }
  for (const Tensor& input : {gate_up, with_gaps(gate_up), by_columns(gate_up)})
    CHECK(close(silu_mul(input), expected));
  CHECK_THROWS_AS((void)silu_mul(Tensor::zeros({3, 9})), ShapeError);
  CHECK_THROWS_AS((void)silu_mul(Tensor::zeros({})), ShapeError);
}

TEST_CASE("argmax looks at the first columns only and reports NaN") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = Tensor::from(std::vector<float>{1, 5, 5, 9, nan, 0, 0, 0, 3, 2, nan, 1}, {3, 4});
  std::vector<std::int32_t> best(3);
  argmax(x, 4, best);
  CHECK(best == std::vector<std::int32_t>{3, kernels::kArgmaxNan, kernels::kArgmaxNan});
  for (const Tensor& input : {x, with_gaps(x), by_columns(x)}) {
    argmax(input, 2, best);
    CHECK(best == std::vector<std::int32_t>{1, kernels::kArgmaxNan, 0});
  }
  CHECK_THROWS_AS(argmax(x, 5, best), ShapeError);
  CHECK_THROWS_AS(argmax(x, -1, best), ShapeError);
  CHECK_THROWS_AS(argmax(x, 4, std::span(best).first(2)), ShapeError);
  CHECK_THROWS_AS(argmax(x.to(DType::kBF16), 4, best), DTypeError);
}

TEST_CASE("ops use the table of the current scope") {
  kernels::KernelTable spy = kernels::reference_table();
  static int calls = 0;
  spy.rms_norm = [](const kernels::Context& context, const kernels::RmsNormArgs& args) {
    ++calls;
    kernels::reference_table().rms_norm(context, args);
  };
  ThreadPool pool(1);
  const ExecutionScope scope({.runtime = {.table = &spy, .threads = &pool}});
  (void)rms_norm(Tensor::zeros({1, 4}), Tensor::zeros({4}), 1);
  CHECK(calls == 1);
}

}  // namespace
}  // namespace minitorch::ops
