// top_k: conformance with the reference, order of ties and of NaN.
#include <doctest/doctest.h>

#include <limits>

#include "tests/kernels/support.h"
#include "tests/kernels/table_walk.h"

namespace minitorch::test {
namespace {

using kernels::KernelTable;

struct TopK {
  GuardedRows<float> values;
  GuardedRows<std::int32_t> indices;
};

TopK run(const KernelTable& table, const GuardedRows<float>& x, std::int64_t k, int threads = 1) {
  TopK result{GuardedRows<float>(x.rows(), k), GuardedRows<std::int32_t>(x.rows(), k)};
  table.top_k({.pool = pool_of(threads)}, {.x = x.data(),
                                           .x_stride = x.stride(),
                                           .rows = x.rows(),
                                           .cols = x.cols(),
                                           .k = k,
                                           .values = result.values.data(),
                                           .indices = result.indices.data()});
  return result;
}

void check(const GuardedRows<float>& x, std::int64_t k, int threads = 1) {
  CAPTURE(x.cols());
  CAPTURE(k);
  const TopK expected = run(kernels::reference_table(), x, k);
  on_every_table("top_k", [&](const KernelTable& table) {
    const TopK result = run(table, x, k, threads);
    CHECK(same_bits(result.values.data(), expected.values.data(), x.rows() * k));
    CHECK(same_bits(result.indices.data(), expected.indices.data(), x.rows() * k));
    CHECK(result.values.guards_intact());
    CHECK(result.indices.guards_intact());
  });
}

TEST_CASE("top_k conforms to the reference for every width and k, with and without ties") {
  PhiloxStream random(1);
  for (const std::int64_t cols : {1, 2, 15, 16, 17, 33, 64, 100, 257}) {
    for (const std::int64_t k : {std::int64_t{1}, std::int64_t{2}, std::int64_t{7}, cols / 2, cols - 1, cols}) {
      if (k < 1 || k > cols) continue;
      GuardedRows<float> x = random_rows(3, cols, random, cols + 1, 1);
      for (std::int64_t c = 0; c < cols; ++c) x.row(1)[c] = static_cast<float>(random.below(4));
      for (std::int64_t c = 0; c < cols; ++c)
        x.row(2)[c] = static_cast<float>(c);  // rising: every element enters the heap
      check(x, k);
    }
  }
}

TEST_CASE("top_k finds the best of a real vocabulary on any number of threads") {
  PhiloxStream random(2);
  const GuardedRows<float> x = random_rows(3, 151936, random);
  for (const std::int64_t k : {1, 10, 64}) check(x, k, 1);
  for (int threads = 2; threads <= 4; ++threads) check(x, 10, threads);
}

TEST_CASE("top_k orders NaN behind everything and equal values by index") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  on_every_table("top_k", [&](const KernelTable& table) {
    GuardedRows<float> x(1, 40);
    std::fill_n(x.data(), 40, nan);
    for (const int c : {3, 25, 39}) x.data()[c] = -inf;
    x.data()[20] = 0.0f;
    x.data()[21] = -0.0f;
    const TopK result = run(table, x, 7);
    const std::vector<std::int32_t> expected{20, 21, 3, 25, 39, 0, 1};
    CHECK(std::vector<std::int32_t>(result.indices.data(), result.indices.data() + 7) == expected);
    CHECK(std::isnan(result.values.data()[6]));
  });
}

}  // namespace
}  // namespace minitorch::test
