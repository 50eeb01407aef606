// layer_norm: conformance with the reference, large means, missing bias, threads.
#include "kernels/ops/layer_norm.h"

#include "tests/kernels/rows_support.h"
#include "tests/kernels/table_walk.h"

namespace minitorch::test {
namespace {

using kernels::KernelTable;

struct Normed {
  GuardedRows<float> y, mean, inverse;
};

Normed run(const KernelTable& table, const GuardedRows<float>& x, const float* weight, const float* bias,
           int threads = 1) {
  Normed out{{x.rows(), x.cols(), x.cols() + 2, 1}, {1, x.rows()}, {1, x.rows()}};
  table.layer_norm({.pool = pool_of(threads)}, {.x = x.data(),
                                                .x_stride = x.stride(),
                                                .weight = weight,
                                                .bias = bias,
                                                .y = out.y.data(),
                                                .y_stride = out.y.stride(),
                                                .mean = out.mean.data(),
                                                .inverse_deviation = out.inverse.data(),
                                                .rows = x.rows(),
                                                .cols = x.cols(),
                                                .eps = 1e-5f});
  return out;
}

void check(const GuardedRows<float>& x, const float* weight, const float* bias) {
  CAPTURE(x.cols());
  const Normed expected = run(kernels::reference_table(), x, weight, bias);
  on_every_table("layer_norm", [&](const KernelTable& table) {
    const Normed out = run(table, x, weight, bias);
    const auto tolerance = [&](std::int64_t m, std::int64_t) {
      double largest = 0.0;
      for (std::int64_t c = 0; c < x.cols(); ++c) {
        const double without = expected.y.row(m)[c] - (bias != nullptr ? static_cast<double>(bias[c]) : 0.0);
        largest = std::max(largest, std::abs(without));
      }
      return 1e-5 * largest + 1e-37;
    };
    CHECK(count_outside(out.y, expected.y, tolerance) == 0);
    CHECK(count_outside(out.mean, expected.mean, [](std::int64_t, std::int64_t) { return 1e-6; }) == 0);
    CHECK(count_outside(out.inverse, expected.inverse,
                        [&](std::int64_t, std::int64_t m) { return 1e-5 * expected.inverse.data()[m]; }) == 0);
    CHECK(out.y.guards_intact());
    CHECK(out.mean.guards_intact());
    CHECK(out.inverse.guards_intact());
  });
}

TEST_CASE("layer_norm conforms to the reference for every width, with and without bias") {
  PhiloxStream random(1);
  for (const std::int64_t cols : kWidths) {
    if (cols == 1) continue;  // x - mean is then rounding alone, tested below
    for (const std::int64_t rows : {0, 1, 5}) {
      const GuardedRows<float> x = random_rows(rows, cols, random, cols + 1, 1);
      const GuardedRows<float> weight = random_rows(1, cols, random, 0, 1);
      const GuardedRows<float> bias = random_rows(1, cols, random, 0, 3);
      check(x, weight.data(), bias.data());
      check(x, weight.data(), nullptr);
    }
  }
}

TEST_CASE("layer_norm keeps rows apart, stands large means and equal elements, and passes a NaN on") {
  const std::vector<float> weight(64, 2.0f);
  const std::vector<float> bias(64, 0.25f);
  on_every_table("layer_norm", [&](const KernelTable& table) {
    GuardedRows<float> x(3, 64);
    for (std::int64_t c = 0; c < 64; ++c) x.row(0)[c] = 4096.0f + (c % 2 == 0 ? 1.0f : -1.0f);
    std::fill_n(x.row(1), 64, 5.0f);
    std::fill_n(x.row(2), 64, 1.0f);
    x.row(2)[63] = std::nanf("");
    const Normed out = run(table, x, weight.data(), bias.data());
    CHECK(out.mean.data()[0] == 4096.0f);
    CHECK(out.y.row(0)[0] == doctest::Approx(2.25).epsilon(1e-5));
    CHECK(out.y.row(0)[1] == doctest::Approx(-1.75).epsilon(1e-5));
    CHECK(out.y.row(1)[63] == 0.25f);
    CHECK(std::isnan(out.y.row(2)[0]));
    GuardedRows<float> single(1, 1);
    single.data()[0] = 3.0f;
    CHECK(run(table, single, weight.data(), bias.data()).y.data()[0] == 0.25f);
  });
}

// Gradients of the rows of x for random dy, with the statistics of the table's own forward pass.
GuardedRows<float> gradient_of(const KernelTable& table, const GuardedRows<float>& x, const float* weight,
                               const Normed& forward) {
  PhiloxStream random(3);
  const GuardedRows<float> dy = random_rows(x.rows(), x.cols(), random);
  GuardedRows<float> dx(x.rows(), x.cols());
  std::vector<float> dweight(static_cast<std::size_t>(x.cols()));
  std::vector<float> dbias(static_cast<std::size_t>(x.cols()));
  table.layer_norm_backward({.pool = pool_of(1)}, {.x = x.data(),
                                                   .x_stride = x.stride(),
                                                   .weight = weight,
                                                   .mean = forward.mean.data(),
                                                   .inverse_deviation = forward.inverse.data(),
                                                   .dy = dy.data(),
                                                   .dy_stride = dy.stride(),
                                                   .dx = dx.data(),
                                                   .dx_stride = dx.stride(),
                                                   .dweight = dweight.data(),
                                                   .dbias = dbias.data(),
                                                   .rows = x.rows(),
                                                   .cols = x.cols()});
  for (const float value : dweight) CHECK(std::isfinite(value));
  for (const float value : dbias) CHECK(std::isfinite(value));
  return dx;
}

TEST_CASE("layer_norm and its gradients stand means far above the deviation, and a deviation of 0 (case B32)") {
  const std::vector<float> weight(33, 1.0f);
  on_every_table("layer_norm", [&](const KernelTable& table) {
    GuardedRows<float> steps(1, 16);
    for (std::int64_t c = 0; c < 16; ++c) steps.data()[c] = 4096.0f + 0.25f * static_cast<float>(c);
    const Normed spread = run(table, steps, weight.data(), nullptr);
    CHECK(near(spread.y.data()[0], -1.626972f, 1e-4));
    CHECK(near(spread.y.data()[15], 1.626972f, 1e-4));
    for (std::int64_t c = 0; c < 16; ++c) {  // as if the mean were 0
      CHECK(near(spread.y.data()[c], 1.626972f * (static_cast<float>(c) - 7.5f) / 7.5f, 1e-4));
    }
    const GuardedRows<float> dx = gradient_of(table, steps, weight.data(), spread);
    for (std::int64_t c = 0; c < 16; ++c) CHECK(std::isfinite(dx.data()[c]));
    CHECK(largest_magnitude(dx) > 0.0);

    GuardedRows<float> equal(1, 33);
    std::fill_n(equal.data(), 33, 777.0f);
    const Normed flat = run(table, equal, weight.data(), nullptr);
    for (std::int64_t c = 0; c < 33; ++c) CHECK(flat.y.data()[c] == 0.0f);
    const GuardedRows<float> flat_dx = gradient_of(table, equal, weight.data(), flat);
    for (std::int64_t c = 0; c < 33; ++c) CHECK(std::isfinite(flat_dx.data()[c]));
  });
}

TEST_CASE("layer_norm gives the same bits for every number of threads, in place and without statistics") {
  PhiloxStream random(2);
  const GuardedRows<float> x = random_rows(90, 257, random);
  const GuardedRows<float> weight = random_rows(1, 257, random);
  on_every_table("layer_norm", [&](const KernelTable& table) {
    const Normed expected = run(table, x, weight.data(), nullptr);
    for (int threads = 2; threads <= 4; ++threads) {
      const Normed out = run(table, x, weight.data(), nullptr, threads);
      CHECK(same_rows(out.y, expected.y));
      CHECK(same_rows(out.mean, expected.mean));
      CHECK(same_rows(out.inverse, expected.inverse));
    }
    GuardedRows<float> y = copy_of(x);
    table.layer_norm({.pool = pool_of(2)}, {.x = y.data(),
                                            .x_stride = 257,
                                            .weight = weight.data(),
                                            .y = y.data(),
                                            .y_stride = 257,
                                            .rows = 90,
                                            .cols = 257,
                                            .eps = 1e-5f});
    CHECK(same_rows(y, expected.y));
  });
}

}  // namespace
}  // namespace minitorch::test
