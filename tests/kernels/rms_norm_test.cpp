// rms_norm: conformance with the reference, large values, independence of rows.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/kernels/support.h"
#include "tests/kernels/table_walk.h"

namespace minitorch::test {
namespace {

using kernels::KernelTable;

GuardedRows<float> run(const KernelTable& table, const GuardedRows<float>& x, const float* weight, float eps,
                       int threads = 1) {
  GuardedRows<float> y(x.rows(), x.cols(), x.cols() + 2, 1);
  table.rms_norm({.pool = pool_of(threads)}, {.x = x.data(),
                                              .x_stride = x.stride(),
                                              .weight = weight,
                                              .y = y.data(),
                                              .y_stride = y.stride(),
                                              .rows = x.rows(),
                                              .cols = x.cols(),
                                              .eps = eps});
  return y;
}

void check(const GuardedRows<float>& x, const float* weight, float eps, int threads) {
  CAPTURE(x.rows());
  CAPTURE(x.cols());
  const GuardedRows<float> expected = run(kernels::reference_table(), x, weight, eps);
  on_every_table("rms_norm", [&](const KernelTable& table) {
    const GuardedRows<float> y = run(table, x, weight, eps, threads);
    std::int64_t wrong = 0;
    for (std::int64_t m = 0; m < x.rows(); ++m) {
      float largest = 0.0f;
      for (std::int64_t c = 0; c < x.cols(); ++c) largest = std::max(largest, std::abs(expected.row(m)[c]));
      for (std::int64_t c = 0; c < x.cols(); ++c)
        wrong += near(y.row(m)[c], expected.row(m)[c], 4e-6 * largest) ? 0 : 1;
    }
    CHECK(wrong == 0);
    CHECK(y.guards_intact());
  });
}

TEST_CASE("rms_norm conforms to the reference for every width") {
  PhiloxStream random(1);
  for (const std::int64_t cols : {1, 2, 15, 16, 17, 31, 32, 33, 64, 127, 172, 1009, 1536, 4099}) {
    for (const std::int64_t rows : {0, 1, 3}) {
      for (const std::int64_t shift : {0, 1}) {
        const GuardedRows<float> x = random_rows(rows, cols, random, cols + shift, shift);
        const GuardedRows<float> weight = random_rows(1, cols, random, 0, shift);
        check(x, weight.data(), 1e-6f, 1);
      }
    }
  }
  const GuardedRows<float> many = random_rows(65, 1536, random);
  const GuardedRows<float> weight = random_rows(1, 1536, random);
  for (int threads = 1; threads <= 4; ++threads) check(many, weight.data(), 1e-5f, threads);
}

TEST_CASE("rms_norm stands large values, zeros and a NaN") {
  on_every_table("rms_norm", [&](const KernelTable& table) {
    const std::vector<float> weight(4096, 1.0f);
    GuardedRows<float> x(3, 4096);
    std::fill_n(x.row(0), 4096, 3e16f);
    std::fill_n(x.row(1), 4096, 0.0f);
    std::fill_n(x.row(2), 4096, 300.0f);
    x.row(2)[4095] = std::nanf("");
    const GuardedRows<float> y = run(table, x, weight.data(), 1e-6f);
    CHECK(y.row(0)[17] == doctest::Approx(1.0f).epsilon(1e-5));
    CHECK(y.row(1)[17] == 0.0f);
    CHECK(std::isnan(y.row(2)[0]));
  });
}

TEST_CASE("rms_norm works in place and gives a row the same bits in every batch (E1)") {
  PhiloxStream random(2);
  const GuardedRows<float> weight = random_rows(1, 700, random);
  const GuardedRows<float> x = random_rows(64, 700, random);
  for (const KernelTable* table : kernels::cpu_tables()) {
    CAPTURE(table->name);
    const GuardedRows<float> all = run(*table, x, weight.data(), 1e-6f, 4);
    std::int64_t differing = 0;
    for (std::int64_t m = 0; m < 64; ++m) {
      std::vector<float> row(x.row(m), x.row(m) + 700);
      table->rms_norm(
          {.pool = pool_of(1)},
          {.x = row.data(), .weight = weight.data(), .y = row.data(), .rows = 1, .cols = 700, .eps = 1e-6f});
      differing += same_bits(row.data(), all.row(m), 700) ? 0 : 1;
    }
    CHECK(differing == 0);
  }
}

}  // namespace
}  // namespace minitorch::test
