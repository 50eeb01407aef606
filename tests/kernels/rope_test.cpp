// rope: equal to the reference bit for bit on every table.
#include <doctest/doctest.h>

#include "tests/kernels/support.h"
#include "tests/kernels/table_walk.h"

namespace minitorch::test {
namespace {

using kernels::KernelTable;

void check(std::int64_t rows, std::int64_t heads, std::int64_t head_dim, std::int64_t gap, int threads) {
  CAPTURE(rows);
  CAPTURE(heads);
  CAPTURE(head_dim);
  const std::int64_t width = heads * head_dim;
  const auto run = [&](const KernelTable& table) {
    PhiloxStream random(static_cast<std::uint64_t>(width));
    GuardedRows<float> x = random_rows(rows, width, random, width + gap, gap);
    const std::vector<float> cos = random_floats(rows * head_dim / 2, random);
    const std::vector<float> sin = random_floats(rows * head_dim / 2, random);
    table.rope({.pool = pool_of(threads)}, {.x = x.data(),
                                            .x_stride = x.stride(),
                                            .cos = cos.data(),
                                            .sin = sin.data(),
                                            .rows = rows,
                                            .heads = heads,
                                            .head_dim = head_dim});
    return x;
  };
  const GuardedRows<float> expected = run(kernels::reference_table());
  on_every_table("rope", [&](const KernelTable& table) {
    const GuardedRows<float> x = run(table);
    std::int64_t differing = 0;
    for (std::int64_t m = 0; m < rows; ++m) differing += same_bits(x.row(m), expected.row(m), width) ? 0 : 1;
    CHECK(differing == 0);
    CHECK(x.guards_intact());
  });
}

TEST_CASE("rope equals the reference bit for bit for every head size") {
  for (const std::int64_t head_dim : {2, 8, 12, 16, 30, 32, 34, 64, 80, 96, 128}) {
    for (const std::int64_t heads : {1, 3, 12}) {
      for (const std::int64_t rows : {0, 1, 4}) check(rows, heads, head_dim, rows, 1);
    }
  }
  for (int threads = 1; threads <= 4; ++threads) check(65, 12, 128, 256, threads);
}

TEST_CASE("rope rotates a pair of elements half a head apart") {
  on_every_table("rope", [&](const KernelTable& table) {
    float x[] = {1, 2, 3, 4};  // two pairs: (1, 3) and (2, 4)
    const float cos[] = {0, 1};
    const float sin[] = {1, 0};
    table.rope({.pool = pool_of(1)}, {.x = x, .cos = cos, .sin = sin, .rows = 1, .heads = 1, .head_dim = 4});
    CHECK(std::vector<float>(x, x + 4) == std::vector<float>{-3, 2, 1, 4});
  });
}

}  // namespace
}  // namespace minitorch::test
