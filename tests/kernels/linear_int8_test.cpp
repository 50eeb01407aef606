// linear with int8 weights: the same bits on every table, and extreme values. Conformance and row independence:
// linear_test.cpp; the error of the quantisation: quantise_test.cpp.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "minitorch/base/error.h"
#include "tests/kernels/linear_support.h"
#include "tests/kernels/support.h"
#include "tests/kernels/table_walk.h"

namespace minitorch::test {
namespace {

using kernels::KernelTable;
using kernels::PackedFormat;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

TEST_CASE("int8 linear gives the same bits on every table, the one without multiply-add too") {
  check_tables_agree(PackedFormat::kInt8);
}

TEST_CASE("int8 linear is exact where quantisation and sums are, with all quants at their limits") {
  // Scales of 1: weights and x are their own quants. Pairs of 127 * 255 are where 16-bit sums would saturate.
  for (const std::int64_t inputs : {1, 2, 4, 31, 32, 33, 172, 1000}) {
    constexpr std::int64_t kOutputs = 17;
    constexpr std::int64_t kRows = 4;
    const auto sign = [](std::int64_t i, std::int64_t k) {  // all 1, all -1, and two ways of changing
      return i % 4 == 0   ? 1.0f
             : i % 4 == 1 ? -1.0f
             : i % 4 == 2 ? (k % 2 == 0 ? 1.0f : -1.0f)
                          : (k % 3 == 0 ? 1.0f : -1.0f);
    };
    std::vector<float> w;
    std::vector<float> x;
    for (std::int64_t n = 0; n < kOutputs; ++n) {
      for (std::int64_t k = 0; k < inputs; ++k) w.push_back(127.0f * sign(n, k));
    }
    for (std::int64_t m = 0; m < kRows; ++m) {
      for (std::int64_t k = 0; k < inputs; ++k) x.push_back(127.0f * sign(m, k));
    }
    const TestMatrix weight(PackedFormat::kInt8, kOutputs, inputs, w);
    std::vector<float> expected;
    for (std::int64_t m = 0; m < kRows; ++m) {
      for (std::int64_t n = 0; n < kOutputs; ++n) {
        float sum = 0.0f;
        for (std::int64_t k = 0; k < inputs; ++k) sum += x[m * inputs + k] * w[n * inputs + k];
        expected.push_back(sum);
      }
    }
    CAPTURE(inputs);
    on_every_table("linear", [&](const KernelTable& table) { CHECK(product(table, x, kRows, weight) == expected); });
  }
}

TEST_CASE("int8 linear rounds x to the nearest of 255 steps, ties to even") {
  // One row of weights per k, which holds 1 there: output n is quant n of x, times the scale.
  constexpr std::int64_t kCols = 32;
  std::vector<float> one_hot(kCols * kCols);
  for (std::int64_t k = 0; k < kCols; ++k) one_hot[k * kCols + k] = 127.0f;
  const TestMatrix weight(PackedFormat::kInt8, kCols, kCols, one_hot);
  std::vector<float> x(kCols);
  const float values[] = {127, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 0.499f, 126.5f, -126.5f, 125.51f, -127};
  const float expected[] = {127, 0, 2, 2, 0, -2, -2, 0, 126, -126, 126, -127};
  std::copy(std::begin(values), std::end(values), x.begin());
  on_every_table("linear", [&](const KernelTable& table) {
    const std::vector<float> y = product(table, x, 1, weight);
    for (std::size_t n = 0; n < std::size(expected); ++n) CHECK(y[n] == 127.0f * expected[n]);
    for (std::size_t n = std::size(expected); n < kCols; ++n) CHECK(y[n] == 0.0f);
  });
}

TEST_CASE("int8 linear scales every group of x and of the weights by itself, from tiny to huge") {
  PhiloxStream random(5);
  constexpr std::int64_t kCols = 7 * 32 + 5;
  constexpr std::int64_t kOutputs = 19;
  const float x_sizes[] = {1.0f, 1e-20f, 1e25f, 0.0f, 1e-36f, 1e-45f, 1.0f, 1e-3f};
  const float w_sizes[] = {1.0f, 8e6f, 1e-6f, 1.0f, 0.0f, 1e-7f, 1e-9f, 1e3f};
  for (int pairing = 0; pairing < 8; ++pairing) {
    std::vector<float> x = random_floats(2 * kCols, random);
    std::vector<float> w = random_floats(kOutputs * kCols, random);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] *= x_sizes[(i % kCols / 32 + pairing) % 8];
    for (std::size_t i = 0; i < w.size(); ++i) w[i] *= w_sizes[i % kCols / 32];
    const TestMatrix weight(PackedFormat::kInt8, kOutputs, kCols, w);
    const std::vector<float> expected = product(kernels::reference_table(), x, 2, weight);
    CHECK(tables_agree(x, 2, weight));
    on_every_table("linear", [&](const KernelTable& table) {
      const std::vector<float> y = product(table, x, 2, weight);
      for (std::int64_t m = 0; m < 2; ++m) {
        const std::vector<double> quantised = quantised_x(&x[m * kCols], kCols);
        for (std::int64_t n = 0; n < kOutputs; ++n) {
          double magnitude = 0.0;
          std::vector<float> held(kCols);
          const auto id = static_cast<std::int32_t>(n);
          kernels::reference_table().gather_rows(
              {.pool = pool_of(1)}, {.table = weight.view, .ids = &id, .rows = 1, .out = held.data(), .out_stride = 0});
          for (std::int64_t k = 0; k < kCols; ++k) magnitude += std::abs(quantised[k] * held[k]);
          CHECK(near(y[m * kOutputs + n], expected[m * kOutputs + n], 0x1p-24 * (8 + 3) * magnitude));
        }
      }
    });
  }
}

TEST_CASE("int8 linear of zeros is zero, and an empty sum leaves bias and residual") {
  PhiloxStream random(6);
  const TestMatrix weight(PackedFormat::kInt8, 20, 40, random);
  const TestMatrix zeros(PackedFormat::kInt8, 20, 40, std::vector<float>(20 * 40));
  const std::vector<float> nothing(3 * 20);
  on_every_table("linear", [&](const KernelTable& table) {
    CHECK(product(table, std::vector<float>(3 * 40), 3, weight) == nothing);
    CHECK(product(table, random_floats(3 * 40, random), 3, zeros) == nothing);
  });
}

TEST_CASE("int8 linear turns a row of x with one NaN or infinity into NaN and leaves the other rows alone") {
  PhiloxStream random(7);
  constexpr std::int64_t kCols = 75;
  constexpr std::int64_t kOutputs = 18;
  std::vector<float> w = random_floats(kOutputs * kCols, random);
  std::fill_n(w.begin(), kCols, 0.0f);  // not even zeros hide it
  const TestMatrix weight(PackedFormat::kInt8, kOutputs, kCols, w);
  const std::vector<float> clean = random_floats(3 * kCols, random);
  for (const float bad : {kNan, -kNan, kInf, -kInf}) {
    for (const std::int64_t place : {0, 15, 16, 31, 40, 63, 64, 74}) {
      CAPTURE(bad);
      CAPTURE(place);
      std::vector<float> x = clean;
      x[kCols + place] = bad;
      on_every_table("linear", [&](const KernelTable& table) {
        const std::vector<float> y = product(table, x, 3, weight);
        const std::vector<float> expected = product(table, clean, 3, weight);
        CHECK(std::all_of(&y[kOutputs], &y[2 * kOutputs], [](float value) { return std::isnan(value); }));
        CHECK(same_bits(&y[0], &expected[0], kOutputs));
        CHECK(same_bits(&y[2 * kOutputs], &expected[2 * kOutputs], kOutputs));
      });
    }
  }
}

TEST_CASE("int8 linear equals the product of the quantised values") {
  PhiloxStream random(8);
  constexpr std::int64_t kCols = 173;
  const std::vector<float> w = random_floats(21 * kCols, random);
  const std::vector<float> x = random_floats(2 * kCols, random);
  const TestMatrix weight(PackedFormat::kInt8, 21, kCols, w);
  const std::vector<float> y = product(kernels::reference_table(), x, 2, weight);
  for (std::int64_t m = 0; m < 2; ++m) {
    const std::vector<double> a = quantised_x(&x[m * kCols], kCols);
    for (std::int64_t n = 0; n < 21; ++n) {
      const std::vector<float> b = quantised_weights(&w[n * kCols], kCols);
      double sum = 0.0;
      double magnitude = 0.0;
      for (std::int64_t k = 0; k < kCols; ++k) {
        sum += a[k] * b[k];
        magnitude += std::abs(a[k] * b[k]);
      }
      CHECK(near(y[m * 21 + n], static_cast<float>(sum), 0x1p-22 * magnitude));
    }
  }
}

TEST_CASE("int8 linear refuses scratch memory that is too small") {
  PhiloxStream random(9);
  const TestMatrix weight(PackedFormat::kInt8, 20, 40, random);
  const std::vector<float> x = random_floats(40, random);
  std::vector<float> y(20);
  const kernels::LinearArgs args{
      .x = x.data(), .x_stride = 40, .rows = 1, .weight = weight.view, .y = y.data(), .y_stride = 20};
  std::vector<std::byte> scratch(kernels::linear_scratch_bytes(args, 1) - 1);
  for (const KernelTable* table : kernels::cpu_tables()) {
    CHECK_THROWS_WITH_AS(table->linear({.pool = pool_of(1), .scratch = scratch}, args),
                         doctest::Contains("linear: expected 144 bytes of scratch memory, got 143"), Error);
  }
  kernels::LinearArgs bf16 = args;
  bf16.weight.format = PackedFormat::kBF16;
  CHECK(kernels::linear_scratch_bytes(bf16, 1) == 0);
  kernels::LinearArgs many = args;
  many.rows = 1 << 20;
  CHECK(kernels::linear_scratch_bytes(many, 1) < std::size_t{1} << 20);
}

}  // namespace
}  // namespace minitorch::test
