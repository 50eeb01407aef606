// softmax_backward: conformance with the reference, threads, writing over dy.
#include "kernels/ops/softmax.h"
#include "tests/kernels/rows_support.h"
#include "tests/kernels/table_walk.h"

namespace minitorch::test {
namespace {

using kernels::KernelTable;

void run_into(const KernelTable& table, const GuardedRows<float>& y, const float* dy, std::int64_t dy_stride,
              GuardedRows<float>& dx, bool log, int threads) {
  table.softmax_backward({.pool = pool_of(threads)}, {.y = y.data(),
                                                      .y_stride = y.stride(),
                                                      .dy = dy,
                                                      .dy_stride = dy_stride,
                                                      .dx = dx.data(),
                                                      .dx_stride = dx.stride(),
                                                      .rows = y.rows(),
                                                      .cols = y.cols(),
                                                      .log = log});
}

GuardedRows<float> run(const KernelTable& table, const GuardedRows<float>& y, const GuardedRows<float>& dy, bool log,
                       int threads = 1) {
  GuardedRows<float> dx(y.rows(), y.cols(), y.cols() + 2, 1);
  run_into(table, y, dy.data(), dy.stride(), dx, log, threads);
  return dx;
}

// The result of a softmax of random numbers.
GuardedRows<float> probabilities(std::int64_t rows, std::int64_t cols, bool log, PhiloxStream& random) {
  GuardedRows<float> y = random_rows(rows, cols, random, cols + 1, 1);
  scale_rows(y, 4.0f);
  kernels::reference_table().softmax({.pool = pool_of(1)}, {.x = y.data(),
                                                            .x_stride = y.stride(),
                                                            .y = y.data(),
                                                            .y_stride = y.stride(),
                                                            .rows = rows,
                                                            .cols = cols,
                                                            .log = log});
  return y;
}

TEST_CASE("softmax_backward conforms to the reference for every width") {
  PhiloxStream random(1);
  for (const std::int64_t cols : kWidths) {
    CAPTURE(cols);
    for (const std::int64_t rows : {0, 1, 4}) {
      for (const bool log : {false, true}) {
        const GuardedRows<float> y = probabilities(rows, cols, log, random);
        const GuardedRows<float> dy = random_rows(rows, cols, random, cols + 3, 2);
        const GuardedRows<float> expected = run(kernels::reference_table(), y, dy, log);
        on_every_table("softmax_backward", [&](const KernelTable& table) {
          const GuardedRows<float> dx = run(table, y, dy, log);
          const auto tolerance = [&](std::int64_t m, std::int64_t) {
            double largest = 0.0;
            for (std::int64_t c = 0; c < cols; ++c) largest = std::max<double>(largest, std::abs(dy.row(m)[c]));
            return 1e-5 * largest;
          };
          CHECK(count_outside(dx, expected, tolerance) == 0);
          CHECK(dx.guards_intact());
        });
      }
    }
  }
}

TEST_CASE("softmax_backward gives the same bits for every number of threads and when dx is dy") {
  PhiloxStream random(2);
  for (const bool log : {false, true}) {
    const GuardedRows<float> y = probabilities(60, 777, log, random);
    const GuardedRows<float> dy = random_rows(60, 777, random);
    on_every_table("softmax_backward", [&](const KernelTable& table) {
      const GuardedRows<float> expected = run(table, y, dy, log);
      for (int threads = 2; threads <= 4; ++threads) CHECK(same_rows(run(table, y, dy, log, threads), expected));
      GuardedRows<float> dx = copy_of(dy);
      run_into(table, y, dx.data(), dx.stride(), dx, log, 3);
      CHECK(same_rows(dx, expected));
    });
  }
}

TEST_CASE("softmax_backward of equal gradients is zero, and one NaN spoils its row alone") {
  PhiloxStream random(3);
  const GuardedRows<float> y = probabilities(2, 50, false, random);
  GuardedRows<float> dy(2, 50);
  std::fill_n(dy.row(0), 50, 0.75f);
  std::fill_n(dy.row(1), 50, 0.75f);
  dy.row(1)[49] = std::nanf("");
  on_every_table("softmax_backward", [&](const KernelTable& table) {
    const GuardedRows<float> dx = run(table, y, dy, false);
    CHECK(std::abs(dx.row(0)[7]) < 1e-7f);
    CHECK(std::isnan(dx.row(1)[0]));
  });
}

}  // namespace
}  // namespace minitorch::test
