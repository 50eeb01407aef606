// gather: elements along the middle of three dimensions, for every type, shape and number of threads.
#include "kernels/ops/index.h"
#include "tests/kernels/index_support.h"

namespace minitorch::test {
namespace {

using kernels::KernelTable;

template <typename T>
void check(const PickShape& s, int threads) {
  CAPTURE(s.outer);
  CAPTURE(s.inner);
  CAPTURE(threads);
  PhiloxStream random(1);
  const GuardedRows<T> x = random_matrix<T>(1, s.outer * s.extent * s.inner, random, 1);
  const auto index = random_indices<std::int64_t>(s.outer * s.picks * s.inner, s.extent, random);
  on_every_table("gather", [&](const KernelTable& table) {
    GuardedRows<T> out(1, std::ssize(index), 0, 1);
    table.gather({.pool = pool_of(threads)}, {.dtype = dtype_of<T>,
                                              .x = x.data(),
                                              .index = index.data(),
                                              .out = out.data(),
                                              .outer = s.outer,
                                              .extent = s.extent,
                                              .picks = s.picks,
                                              .inner = s.inner});
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < out.cols(); ++i) {
      const std::int64_t o = i / (s.picks * s.inner);
      wrong += out.data()[i] == x.data()[(o * s.extent + index[i]) * s.inner + i % s.inner] ? 0 : 1;
    }
    CHECK(wrong == 0);
    CHECK(out.guards_intact());
  });
}

TEST_CASE("gather picks the elements that are named, for every shape, type and number of threads") {
  for (const PickShape& shape : kPickShapes) {
    check<float>(shape, 1);
    check<double>(shape, 1);
  }
  for (int threads = 1; threads <= 4; ++threads) {
    check<float>({4099, 17, 9, 1}, threads);
    check<double>({3, 50, 40, 401}, threads);
  }
}

TEST_CASE("gather passes infinities and NaN on") {
  const float x[] = {std::nanf(""), -HUGE_VALF, 1.0f};
  const std::int64_t index[] = {1, 0};
  on_every_table("gather", [&](const KernelTable& table) {
    float out[2] = {};
    table.gather({.pool = pool_of(1)},
                 {.x = x, .index = index, .out = out, .outer = 1, .extent = 3, .picks = 2, .inner = 1});
    CHECK(out[0] == -HUGE_VALF);
    CHECK(std::isnan(out[1]));
  });
}

}  // namespace
}  // namespace minitorch::test
