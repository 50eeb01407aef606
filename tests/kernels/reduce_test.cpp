// reduce: sums, extremes and their places over every choice of dimensions and layouts.
#include "kernels/ops/reduce.h"

#include <cmath>  // std::log2

#include "tests/kernels/strided_support.h"
#include "tests/kernels/table_walk.h"

namespace minitorch::test {
namespace {

using kernels::KernelTable;
using kernels::ReduceArgs;
using kernels::ReduceOp;

// A reduction of the dimensions `reduced` (bits) of a strided tensor.
struct Case {
  Shape shape;
  Layout layout;
  unsigned reduced = 0;

  [[nodiscard]] bool is_reduced(std::size_t dim) const { return (reduced >> dim & 1u) != 0; }
  // The number of kept or of reduced elements.
  [[nodiscard]] std::int64_t count(bool of_reduced) const {
    std::int64_t result = 1;
    for (std::size_t dim = 0; dim < shape.size(); ++dim) {
      if (is_reduced(dim) == of_reduced) result *= shape[dim];
    }
    return result;
  }
};

template <typename T, typename Out>
GuardedRows<Out> run(const KernelTable& table, ReduceOp op, const Case& c, const Strided<T>& x, int threads) {
  GuardedRows<Out> out(1, c.count(false), 0, 1);
  ReduceArgs args{.op = op, .dtype = dtype_of<T>, .x = x.data(), .out = out.data()};
  int dims = 0;
  for (const bool reduced : {false, true}) {
    for (std::size_t dim = 0; dim < c.shape.size(); ++dim) {
      if (c.is_reduced(dim) != reduced) continue;
      args.shape[dims] = c.shape[dim];
      args.x_strides[dims++] = x.strides[dim];
      ++(reduced ? args.reduced_dims : args.kept_dims);
    }
  }
  table.reduce({.pool = pool_of(threads)}, args);
  return out;
}

template <typename T>
void check_sum(const Case& c, int threads) {
  PhiloxStream random(7);
  Strided<T> x(c.shape, c.layout);
  Strided<T> sizes(c.shape, c.layout);
  for (std::int64_t i = 0; i < x.size(); ++i) {
    x.data()[i] = T(random.uniform()) * 2 - 1;
    sizes.data()[i] = std::abs(x.data()[i]);
  }
  const auto expected = run<T, T>(kernels::reference_table(), ReduceOp::kSum, c, x, 1);
  const auto magnitude = run<T, T>(kernels::reference_table(), ReduceOp::kSum, c, sizes, 1);
  const double unit = sizeof(T) == sizeof(float) ? 0x1p-24 : 0x1p-53;
  const double errors = (sizeof(T) == sizeof(float) ? 64.0 : 512.0) +
                        std::log2(static_cast<double>(std::max<std::int64_t>(c.count(true), 1)));
  on_every_table("reduce", [&](const KernelTable& table) {
    const auto out = run<T, T>(table, ReduceOp::kSum, c, x, threads);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < out.cols(); ++i) {
      const double difference = static_cast<double>(out.data()[i]) - static_cast<double>(expected.data()[i]);
      wrong += std::abs(difference) <= unit * errors * magnitude.data()[i] ? 0 : 1;
    }
    CHECK(wrong == 0);
    CHECK(out.guards_intact());
  });
}

// Few different values, so that there are ties; sometimes a NaN.
template <typename T>
Strided<T> tied_values(const Case& c, bool with_nan) {
  PhiloxStream random(8);
  Strided<T> x(c.shape, c.layout);
  for (std::int64_t i = 0; i < x.size(); ++i) {
    x.data()[i] = T(random.below(9)) - T(4);
    if (random.below(50) == 0) x.data()[i] = std::numeric_limits<T>::infinity() * (random.below(2) == 0 ? T(1) : T(-1));
    if (with_nan && random.below(40) == 0) x.data()[i] = std::numeric_limits<T>::quiet_NaN();
  }
  return x;
}

template <typename T, typename Out>
void check_exact(ReduceOp op, const Case& c, const Strided<T>& x, int threads) {
  const auto expected = run<T, Out>(kernels::reference_table(), op, c, x, 1);
  on_every_table("reduce", [&](const KernelTable& table) {
    const auto out = run<T, Out>(table, op, c, x, threads);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < out.cols(); ++i) wrong += same_number(out.data()[i], expected.data()[i]) ? 0 : 1;
    CHECK(wrong == 0);
    CHECK(out.guards_intact());
  });
}

template <typename T>
void check_extremes(const Case& c, bool with_nan, int threads) {
  if (c.count(true) == 0) return;
  const Strided<T> x = tied_values<T>(c, with_nan);
  for (const ReduceOp op : {ReduceOp::kMax, ReduceOp::kMin}) check_exact<T, T>(op, c, x, threads);
  for (const ReduceOp op : {ReduceOp::kArgmax, ReduceOp::kArgmin}) check_exact<T, std::int64_t>(op, c, x, threads);
}

template <typename T>
void check(const Case& c, int threads = 1) {
  CAPTURE(c.shape.size());
  CAPTURE(c.reduced);
  CAPTURE(threads);
  check_sum<T>(c, threads);
  for (const bool with_nan : {false, true}) check_extremes<T>(c, with_nan, threads);
}

TEST_CASE("reduce conforms to the reference for every choice of dimensions and every layout") {
  for (const Shape& shape : small_shapes()) {
    for (unsigned reduced = 0; reduced < 1u << shape.size(); ++reduced) {
      for (const Layout& layout : kInputLayouts) check<float>({shape, layout, reduced});
      check<double>({shape, kPlain, reduced});
    }
  }
}

TEST_CASE("reduce conforms to the reference at sizes around its blocks") {
  for (const std::int64_t size : {63, 64, 65, 127, 129, 4095, 4096, 4097, 8193}) {
    check<float>({{size}, kPlain, 1});
    check<float>({{size}, {.step = 3}, 1});
    check<float>({{size, 3}, kPlain, 1});
    check<float>({{2, size}, kPlain, 2});
    check<double>({{size, 2}, kPlain, 1});
  }
  for (const std::int64_t cols : {63, 64, 65, 130}) check<float>({{129, cols}, kPlain, 1});
}

TEST_CASE("reduce gives the same bits for every number of threads") {
  const Case cases[] = {{{270000}, kPlain, 1},   {{2, 263000}, kPlain, 2},  {{250, 300}, kPlain, 1},
                        {{250, 300}, kPlain, 2}, {{20, 40, 50}, kPlain, 5}, {{250, 300}, {.reversed = true}, 3}};
  PhiloxStream random(9);
  for (const Case& c : cases) {
    CAPTURE(c.reduced);
    Strided<float> x(c.shape, c.layout);
    fill_random(x.data(), x.size(), random);
    on_every_table("reduce", [&](const KernelTable& table) {
      const auto expected = run<float, float>(table, ReduceOp::kSum, c, x, 1);
      for (int threads = 2; threads <= 4; ++threads) {
        const auto out = run<float, float>(table, ReduceOp::kSum, c, x, threads);
        CHECK(same_bits(out.data(), expected.data(), out.cols()));
      }
    });
    check_sum<float>(c, 3);
  }
}

TEST_CASE("reduce sums a million equal numbers without drift") {
  const Case c{{1 << 20}, {.broadcast = 1}, 1};
  Strided<float> x(c.shape, c.layout);
  x.data()[0] = 0.1f;
  on_every_table("reduce", [&](const KernelTable& table) {
    const auto out = run<float, float>(table, ReduceOp::kSum, c, x, 2);
    CHECK(out.data()[0] == doctest::Approx(0.1f * 1048576.0).epsilon(2e-6));
  });
}

TEST_CASE("an empty sum is 0, a NaN wins, and of equal elements the first has the place") {
  const float nan = std::nanf("");
  const Case c{{5}, kPlain, 1};
  on_every_table("reduce", [&](const KernelTable& table) {
    const auto place = [&](ReduceOp op, const std::vector<float>& values) {
      Strided<float> x(c.shape, c.layout);
      std::copy(values.begin(), values.end(), x.data());
      return run<float, std::int64_t>(table, op, c, x, 1).data()[0];
    };
    CHECK(place(ReduceOp::kArgmax, {1, 3, 3, 2, 3}) == 1);
    CHECK(place(ReduceOp::kArgmin, {1, 3, 1, 2, 3}) == 0);
    CHECK(place(ReduceOp::kArgmax, {1, 3, nan, 2, nan}) == 2);
    CHECK(place(ReduceOp::kArgmin, {1, 3, nan, 2, nan}) == 2);
    CHECK(place(ReduceOp::kArgmax, {-0.0f, 0.0f, -1, 0, 0}) == 0);
    const Strided<float> none({3, 0}, kPlain);
    const auto sums = run<float, float>(table, ReduceOp::kSum, {{3, 0}, kPlain, 2}, none, 1);
    CHECK(sums.data()[0] == 0.0f);
    CHECK(sums.data()[2] == 0.0f);
  });
}

}  // namespace
}  // namespace minitorch::test
