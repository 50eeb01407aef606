// linear with int4 weights: the same bits on every table, and quants at their limits. Conformance and row independence:
// linear_test.cpp; rounding of x: linear_int8_test.cpp; the error of the quantisation: quantise_test.cpp.
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

TEST_CASE("int4 linear gives the same bits on every table, the one without multiply-add too") {
  check_tables_agree(PackedFormat::kInt4);
}

TEST_CASE("int4 linear is exact where quantisation and sums are, with all quants at their limits") {
  for (const std::int64_t inputs : {1, 2, 4, 8, 12, 31, 32, 33, 172, 1000}) {
    constexpr std::int64_t kOutputs = 17;
    constexpr std::int64_t kRows = 4;
    // Every group begins with -8, so that its scale is 1; the rest is at either end, or all values in turn.
    std::vector<float> w;
    for (std::int64_t n = 0; n < kOutputs; ++n) {
      for (std::int64_t k = 0; k < inputs; ++k) {
        const bool low = k % 32 == 0 || n % 4 == 0 || (n % 4 == 2 && k % 2 == 0);
        w.push_back(n % 4 == 3 && k % 32 != 0 ? static_cast<float>((k * 5 + n) % 16 - 8) : low ? -8.0f : 7.0f);
      }
    }
    std::vector<float> x;
    for (std::int64_t m = 0; m < kRows; ++m) {
      for (std::int64_t k = 0; k < inputs; ++k) x.push_back((m * k) % 3 == 0 ? 127.0f : -127.0f);
    }
    const TestMatrix weight(PackedFormat::kInt4, kOutputs, inputs, w);
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

TEST_CASE("int4 linear turns a row of x with one NaN or infinity into NaN and leaves the other rows alone") {
  PhiloxStream random(7);
  constexpr std::int64_t kCols = 75;
  constexpr std::int64_t kOutputs = 18;
  const TestMatrix weight(PackedFormat::kInt4, kOutputs, kCols, random);
  const std::vector<float> clean = random_floats(3 * kCols, random);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    for (const std::int64_t place : {0, 40, 74}) {
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

}  // namespace
}  // namespace minitorch::test
