// index_rows: rows by their number, for every type, width and number of threads.
#include "kernels/ops/index.h"
#include "tests/kernels/index_support.h"

namespace minitorch::test {
namespace {

using kernels::KernelTable;

template <typename T>
GuardedRows<T> run(const KernelTable& table, const GuardedRows<T>& rows, const std::vector<std::int32_t>& ids,
                   int threads) {
  GuardedRows<T> out(std::ssize(ids), rows.cols(), rows.cols() + 3, 1);
  table.index_rows({.pool = pool_of(threads)}, {.dtype = dtype_of<T>,
                                                .table = rows.data(),
                                                .table_stride = rows.stride(),
                                                .ids = ids.data(),
                                                .out = out.data(),
                                                .out_stride = out.stride(),
                                                .rows = std::ssize(ids),
                                                .cols = rows.cols()});
  return out;
}

template <typename T>
void check(std::int64_t rows, std::int64_t cols, std::int64_t count, int threads) {
  CAPTURE(cols);
  CAPTURE(threads);
  PhiloxStream random(1);
  const GuardedRows<T> table_rows = random_matrix<T>(rows, cols, random, 1);
  const auto ids = random_indices<std::int32_t>(count, rows, random);
  on_every_table("index_rows", [&](const KernelTable& table) {
    const GuardedRows<T> out = run(table, table_rows, ids, threads);
    std::int64_t wrong = 0;
    for (std::int64_t m = 0; m < count; ++m) wrong += same_bits(out.row(m), table_rows.row(ids[m]), cols) ? 0 : 1;
    CHECK(wrong == 0);
    CHECK(out.guards_intact());
  });
}

TEST_CASE("index_rows copies the rows that are named, repeated or not") {
  for (const std::int64_t cols : kWidths) {
    for (const std::int64_t count : {0, 1, 9}) {
      check<float>(5, cols, count, 1);
      check<double>(5, cols, count, 1);
    }
  }
  for (int threads = 1; threads <= 4; ++threads) {
    check<float>(2048, 256, 300, threads);
    check<double>(100, 131, 301, threads);
  }
}

TEST_CASE("index_rows keeps the bits of a NaN") {
  GuardedRows<float> rows(2, 3);
  std::fill_n(rows.row(0), 3, 1.0f);
  std::fill_n(rows.row(1), 3, -std::nanf("5"));
  on_every_table("index_rows",
                 [&](const KernelTable& table) { CHECK(same_bits(run(table, rows, {1}, 1).data(), rows.row(1), 3)); });
}

}  // namespace
}  // namespace minitorch::test
