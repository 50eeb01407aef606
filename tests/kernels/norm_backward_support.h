// What the tests of rms_norm_backward and layer_norm_backward share: inputs, results and their comparison.
#pragma once

#include "tests/kernels/rows_support.h"
#include "tests/kernels/table_walk.h"

namespace minitorch::test {

struct NormInputs {
  NormInputs(std::int64_t rows, std::int64_t cols, PhiloxStream& random)
      : x(random_rows(rows, cols, random, cols + 1, 1)),
        weight(random_rows(1, cols, random, 0, 2)),
        dy(random_rows(rows, cols, random, cols + 2, 3)) {
    scale_rows(x, 2.0f, 0.5f);
  }
  GuardedRows<float> x, weight, dy;
};

struct NormGradients {
  NormGradients(std::int64_t rows, std::int64_t cols)
      : dx(rows, cols, cols + 3, 1), dweight(1, cols, 0, 1), dbias(1, cols, 0, 2) {
    std::fill_n(dweight.data(), cols, 7.0f);  // must be written over
    std::fill_n(dbias.data(), cols, 7.0f);
  }
  GuardedRows<float> dx, dweight, dbias;
};

// The largest r |dy weight| with r = 1 / rms(x): what dx is a difference of.
inline double largest_term(const NormInputs& in) {
  double largest = 0.0;
  for (std::int64_t m = 0; m < in.x.rows(); ++m) {
    double squares = 0.0;
    double product = 0.0;
    for (std::int64_t c = 0; c < in.x.cols(); ++c) {
      squares += std::pow(in.x.row(m)[c], 2.0);
      product = std::max(product, std::abs(static_cast<double>(in.dy.row(m)[c]) * in.weight.data()[c]));
    }
    largest = std::max(largest, product / std::sqrt(squares / static_cast<double>(in.x.cols()) + 1e-5));
  }
  return largest;
}

// The contract: 1e-4 of the largest value of each result, for dx besides 1e-6 of the terms that cancel.
inline void check_near(const GuardedRows<float>& got, const GuardedRows<float>& expected, double least) {
  const double tolerance = 1e-4 * largest_magnitude(expected) + least;
  CHECK(count_outside(got, expected, [tolerance](std::int64_t, std::int64_t) { return tolerance; }) == 0);
  CHECK(got.guards_intact());
}

inline void check_near(const NormGradients& got, const NormGradients& expected, const NormInputs& inputs) {
  check_near(got.dx, expected.dx, 1e-6 * largest_term(inputs));
  check_near(got.dweight, expected.dweight, 0.0);
  check_near(got.dbias, expected.dbias, 0.0);
}

inline bool same_gradients(const NormGradients& a, const NormGradients& b) {
  return same_rows(a.dx, b.dx) && same_rows(a.dweight, b.dweight) && same_rows(a.dbias, b.dbias);
}

// run(table, inputs, threads) gives NormGradients, run.in_place(table, inputs, threads) writes dx over dy.
template <typename Run>
void check_norm_backward_conforms(std::string_view kernel, const Run& run) {
  PhiloxStream random(1);
  for (const std::int64_t cols : kWidths) {
    CAPTURE(cols);
    for (const std::int64_t rows : {0, 1, 3}) {
      const NormInputs inputs(rows, cols, random);
      const NormGradients expected = run(kernels::reference_table(), inputs, 1);
      on_every_table(kernel,
                     [&](const kernels::KernelTable& table) { check_near(run(table, inputs, 1), expected, inputs); });
    }
  }
  for (const std::int64_t rows : {63, 64, 65, 511, 512, 513, 1100}) {  // around the blocks of the sums
    CAPTURE(rows);
    const NormInputs inputs(rows, 40, random);
    const NormGradients expected = run(kernels::reference_table(), inputs, 1);
    on_every_table(kernel,
                   [&](const kernels::KernelTable& table) { check_near(run(table, inputs, 1), expected, inputs); });
  }
}

template <typename Run>
void check_norm_backward_threads(std::string_view kernel, const Run& run) {
  PhiloxStream random(2);
  const NormInputs inputs(700, 100, random);
  on_every_table(kernel, [&](const kernels::KernelTable& table) {
    const NormGradients expected = run(table, inputs, 1);
    for (int threads = 2; threads <= 4; ++threads) CHECK(same_gradients(run(table, inputs, threads), expected));
    CHECK(same_gradients(run.in_place(table, inputs, 3), expected));
  });
}

}  // namespace minitorch::test
