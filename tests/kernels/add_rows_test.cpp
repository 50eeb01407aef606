// add_rows: sums into rows in the order of the ids, for every type, width and number of threads.
#include "kernels/ops/index.h"
#include "tests/kernels/index_support.h"

namespace minitorch::test {
namespace {

using kernels::KernelTable;

template <typename T>
GuardedRows<T> run(const KernelTable& table, const GuardedRows<T>& target, const GuardedRows<T>& x,
                   const std::vector<std::int32_t>& ids, int threads) {
  GuardedRows<T> out = copy_of(target, target.cols() + 2, 1);
  table.add_rows({.pool = pool_of(threads)}, {.dtype = dtype_of<T>,
                                              .table = out.data(),
                                              .table_stride = out.stride(),
                                              .ids = ids.data(),
                                              .x = x.data(),
                                              .x_stride = x.stride(),
                                              .rows = std::ssize(ids),
                                              .cols = x.cols()});
  return out;
}

// The order of the sums is part of the contract, so the bits are.
template <typename T>
void check(std::int64_t rows, std::int64_t cols, std::int64_t count, int threads) {
  CAPTURE(cols);
  CAPTURE(threads);
  PhiloxStream random(1);
  const GuardedRows<T> target = random_matrix<T>(rows, cols, random);
  const GuardedRows<T> x = random_matrix<T>(count, cols, random, 1);
  const auto ids = random_indices<std::int32_t>(count, rows, random);
  const GuardedRows<T> expected = run(kernels::reference_table(), target, x, ids, 1);
  on_every_table("add_rows", [&](const KernelTable& table) {
    const GuardedRows<T> out = run(table, target, x, ids, threads);
    CHECK(same_rows(out, expected));
    CHECK(out.guards_intact());
  });
}

TEST_CASE("add_rows conforms to the reference bit for bit, whatever the width and the threads") {
  for (const std::int64_t cols : kWidths) {
    for (const std::int64_t count : {0, 1, 20}) {
      check<float>(5, cols, count, 1);
      check<double>(5, cols, count, 1);
    }
  }
  for (int threads = 1; threads <= 4; ++threads) {
    check<float>(2048, 256, 300, threads);
    check<float>(3, 2001, 40, threads);
    check<double>(100, 131, 301, threads);
  }
}

TEST_CASE("add_rows adds repeated ids one after the other, and a NaN stays where it is") {
  GuardedRows<float> target(2, 20);
  std::fill_n(target.row(0), 20, 1.0f);
  std::fill_n(target.row(1), 20, 2.0f);
  GuardedRows<float> x(3, 20);
  std::fill_n(x.row(0), 20, 1e8f);
  std::fill_n(x.row(1), 20, -1e8f);
  std::fill_n(x.row(2), 20, 0.5f);
  x.row(2)[19] = std::nanf("");
  on_every_table("add_rows", [&](const KernelTable& table) {
    const GuardedRows<float> out = run(table, target, x, {0, 0, 0}, 1);
    CHECK(out.row(0)[3] == 0.5f);  // (1 + 1e8) - 1e8 is 0 in f32
    CHECK(std::isnan(out.row(0)[19]));
    CHECK(out.row(1)[19] == 2.0f);
  });
}

}  // namespace
}  // namespace minitorch::test
