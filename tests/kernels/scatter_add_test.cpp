// scatter_add: sums along the middle of three dimensions, in the order of the picks.
#include "kernels/ops/index.h"
#include "tests/kernels/index_support.h"

namespace minitorch::test {
namespace {

using kernels::KernelTable;

template <typename T>
GuardedRows<T> run(const KernelTable& table, const PickShape& s, const GuardedRows<T>& target, const GuardedRows<T>& x,
                   const std::vector<std::int64_t>& index, int threads) {
  GuardedRows<T> out = copy_of(target, 0, 1);
  table.scatter_add({.pool = pool_of(threads)}, {.dtype = dtype_of<T>,
                                                 .x = x.data(),
                                                 .index = index.data(),
                                                 .target = out.data(),
                                                 .outer = s.outer,
                                                 .extent = s.extent,
                                                 .picks = s.picks,
                                                 .inner = s.inner});
  return out;
}

// The order of the sums is part of the contract, so the bits are.
template <typename T>
void check(const PickShape& s, int threads) {
  CAPTURE(s.outer);
  CAPTURE(s.inner);
  CAPTURE(threads);
  PhiloxStream random(1);
  const GuardedRows<T> target = random_matrix<T>(1, s.outer * s.extent * s.inner, random);
  const GuardedRows<T> x = random_matrix<T>(1, s.outer * s.picks * s.inner, random, 1);
  const auto index = random_indices<std::int64_t>(x.cols(), s.extent, random);
  const GuardedRows<T> expected = run(kernels::reference_table(), s, target, x, index, 1);
  on_every_table("scatter_add", [&](const KernelTable& table) {
    const GuardedRows<T> out = run(table, s, target, x, index, threads);
    CHECK(same_rows(out, expected));
    CHECK(out.guards_intact());
  });
}

TEST_CASE("scatter_add conforms to the reference bit for bit, whatever the shape and the threads") {
  for (const PickShape& shape : kPickShapes) {
    check<float>(shape, 1);
    check<double>(shape, 1);
  }
  for (int threads = 1; threads <= 4; ++threads) {
    check<float>({4099, 17, 9, 1}, threads);
    check<double>({3, 50, 40, 401}, threads);
  }
}

TEST_CASE("scatter_add adds the picks in ascending order") {
  const float x[] = {1e8f, -1e8f, 0.5f};
  const std::int64_t index[] = {1, 1, 1};
  on_every_table("scatter_add", [&](const KernelTable& table) {
    float target[] = {7.0f, 1.0f};
    table.scatter_add({.pool = pool_of(1)},
                      {.x = x, .index = index, .target = target, .outer = 1, .extent = 2, .picks = 3, .inner = 1});
    CHECK(target[0] == 7.0f);
    CHECK(target[1] == 0.5f);
  });
}

}  // namespace
}  // namespace minitorch::test
