// argmax: conformance with the reference, ties, NaN and infinities.
#include <doctest/doctest.h>

#include <limits>

#include "tests/kernels/support.h"
#include "tests/kernels/table_walk.h"

namespace minitorch::test {
namespace {

using kernels::KernelTable;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<std::int32_t> run(const KernelTable& table, const GuardedRows<float>& x, int threads = 1) {
  GuardedRows<std::int32_t> out(1, x.rows());
  table.argmax({.pool = pool_of(threads)},
               {.x = x.data(), .x_stride = x.stride(), .out = out.data(), .rows = x.rows(), .cols = x.cols()});
  CHECK(out.guards_intact());
  return {out.data(), out.data() + x.rows()};
}

TEST_CASE("argmax conforms to the reference for every width, with ties in every row") {
  PhiloxStream random(1);
  for (const std::int64_t cols : {0, 1, 2, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 1009, 50257}) {
    for (const std::int64_t shift : {0, 1, 7}) {
      GuardedRows<float> x(5, cols, cols + 3, shift);
      for (std::int64_t m = 0; m < 5; ++m) {
        // Row m holds m + 2 different values, so that most values occur often.
        for (std::int64_t c = 0; c < cols; ++c)
          x.row(m)[c] = static_cast<float>(random.below(static_cast<std::uint32_t>(m + 2))) - 1.0f;
      }
      const std::vector<std::int32_t> expected = run(kernels::reference_table(), x);
      CAPTURE(cols);
      on_every_table("argmax", [&](const KernelTable& table) { CHECK(run(table, x) == expected); });
    }
  }
}

TEST_CASE("argmax finds the largest of a real vocabulary on any number of threads") {
  PhiloxStream random(2);
  const GuardedRows<float> x = random_rows(5, 151936, random);
  const std::vector<std::int32_t> expected = run(kernels::reference_table(), x);
  for (int threads = 1; threads <= 4; ++threads) {
    on_every_table("argmax", [&](const KernelTable& table) { CHECK(run(table, x, threads) == expected); });
  }
}

TEST_CASE("argmax reports a NaN wherever it stands") {
  on_every_table("argmax", [&](const KernelTable& table) {
    for (const std::int64_t cols : {1, 16, 17, 100}) {
      for (std::int64_t place = 0; place < cols; ++place) {
        GuardedRows<float> x(1, cols);
        std::fill_n(x.data(), cols, 1.0f);
        x.data()[place] = kNan;
        if (place + 1 < cols) x.data()[place + 1] = kInf;
        if (run(table, x)[0] != kernels::kArgmaxNan) FAIL_CHECK("NaN at ", place, " of ", cols, " was missed");
      }
    }
  });
}

TEST_CASE("argmax takes the lowest of equal values, also of zeros of either sign and of infinities") {
  on_every_table("argmax", [&](const KernelTable& table) {
    GuardedRows<float> x(4, 40);
    for (std::int64_t c = 0; c < 40; ++c) {
      x.row(0)[c] = c == 20 ? -0.0f : (c == 30 ? 0.0f : -1.0f);
      x.row(1)[c] = -kInf;
      x.row(2)[c] = c >= 33 ? kInf : 5.0f;
      x.row(3)[c] = c == 7 || c == 39 ? 3.0f : 2.0f;
    }
    CHECK(run(table, x) == std::vector<std::int32_t>{20, 0, 33, 7});
  });
}

}  // namespace
}  // namespace minitorch::test
