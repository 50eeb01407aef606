// softmax and log_softmax: conformance with the reference, special values, independence of rows and threads.
#include "kernels/ops/softmax.h"

#include <limits>

#include "tests/kernels/rows_support.h"
#include "tests/kernels/table_walk.h"

namespace minitorch::test {
namespace {

using kernels::KernelTable;

GuardedRows<float> run(const KernelTable& table, const GuardedRows<float>& x, bool log, int threads = 1) {
  GuardedRows<float> y(x.rows(), x.cols(), x.cols() + 3, 1);
  table.softmax({.pool = pool_of(threads)}, {.x = x.data(),
                                             .x_stride = x.stride(),
                                             .y = y.data(),
                                             .y_stride = y.stride(),
                                             .rows = x.rows(),
                                             .cols = x.cols(),
                                             .log = log});
  return y;
}

void check(const GuardedRows<float>& x, int threads) {
  CAPTURE(x.cols());
  for (const bool log : {false, true}) {
    CAPTURE(log);
    const GuardedRows<float> expected = run(kernels::reference_table(), x, log);
    on_every_table("softmax", [&](const KernelTable& table) {
      const GuardedRows<float> y = run(table, x, log, threads);
      const double relative = 1e-6 * (2.0 + static_cast<double>(x.cols()) * 0x1p-20);
      const auto tolerance = [&](std::int64_t m, std::int64_t c) {
        const double size = std::abs(expected.row(m)[c]);
        return log ? 4e-6 * std::max(1.0, size) : relative * size + 1e-37;
      };
      CHECK(count_outside(y, expected, tolerance) == 0);
      CHECK(y.guards_intact());
    });
  }
}

TEST_CASE("softmax conforms to the reference for every width, alignment and scale") {
  PhiloxStream random(1);
  for (const std::int64_t cols : kWidths) {
    for (const float scale : {1.0f, 8.0f}) {
      for (const std::int64_t rows : {0, 1, 5}) {
        GuardedRows<float> x = random_rows(rows, cols, random, cols + rows, rows);
        scale_rows(x, scale, 3.0f * scale);
        check(x, 1);
      }
    }
  }
  check(random_rows(2, 151936, random), 2);
}

TEST_CASE("softmax gives the same bits for every number of threads, and in place") {
  PhiloxStream random(2);
  const GuardedRows<float> x = random_rows(67, 1009, random);
  for (const bool log : {false, true}) {
    on_every_table("softmax", [&](const KernelTable& table) {
      const GuardedRows<float> expected = run(table, x, log);
      for (int threads = 2; threads <= 4; ++threads) CHECK(same_rows(run(table, x, log, threads), expected));
      GuardedRows<float> y = copy_of(x);
      table.softmax(
          {.pool = pool_of(2)},
          {.x = y.data(), .x_stride = 1009, .y = y.data(), .y_stride = 1009, .rows = 67, .cols = 1009, .log = log});
      CHECK(same_rows(y, expected));
    });
  }
}

TEST_CASE("softmax stands large and masked elements, and gives NaN where there is no answer") {
  const float inf = std::numeric_limits<float>::infinity();
  on_every_table("softmax", [&](const KernelTable& table) {
    GuardedRows<float> x(5, 37);
    for (std::int64_t m = 0; m < 5; ++m) std::fill_n(x.row(m), 37, 1.0f);
    std::fill_n(x.row(0), 37, 3e38f);
    x.row(1)[36] = std::nanf("");
    x.row(2)[20] = inf;
    std::fill_n(x.row(3), 37, -inf);
    x.row(4)[5] = -inf;
    const GuardedRows<float> y = run(table, x, false);
    const GuardedRows<float> log_y = run(table, x, true);
    CHECK(y.row(0)[36] == doctest::Approx(1.0 / 37));
    for (const std::int64_t m : {1, 2, 3}) {
      CHECK(std::isnan(y.row(m)[0]));
      CHECK(std::isnan(log_y.row(m)[0]));
    }
    CHECK(y.row(4)[5] == 0.0f);
    CHECK(log_y.row(4)[5] == -inf);
    CHECK(y.row(4)[36] == doctest::Approx(1.0 / 36));
  });
}

}  // namespace
}  // namespace minitorch::test
