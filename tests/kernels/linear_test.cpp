// linear: conformance with the reference, and exactness rule E1 bit by bit.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <numeric>  // std::iota

#include "tests/kernels/linear_support.h"
#include "tests/kernels/support.h"
#include "tests/kernels/table_walk.h"

namespace minitorch::test {
namespace {

using kernels::KernelTable;
using kernels::LinearArgs;
using kernels::PackedFormat;

constexpr PackedFormat kFormats[] = {PackedFormat::kF32, PackedFormat::kBF16, PackedFormat::kInt8, PackedFormat::kInt4};

struct LinearCase {
  std::int64_t rows, outputs, inputs;
  bool bias = false;
  bool residual = false;
  bool in_place = false;   // y is residual
  std::int64_t gap = 0;    // elements between rows
  std::int64_t shift = 0;  // elements off alignment
  int threads = 1;
};

struct LinearData {
  LinearData(const LinearCase& c, PackedFormat format, PhiloxStream& random)
      : x(random_rows(c.rows, c.inputs, random, c.inputs + c.gap, c.shift)),
        weight(format, c.outputs, c.inputs, random),
        bias(random_rows(1, c.outputs, random, 0, c.shift)),
        residual(random_rows(c.rows, c.outputs, random, c.outputs + c.gap, c.shift)) {}

  GuardedRows<float> x;
  TestMatrix weight;
  GuardedRows<float> bias;
  GuardedRows<float> residual;
};

GuardedRows<float> run(const KernelTable& table, const LinearCase& c, const LinearData& data) {
  GuardedRows<float> y(c.rows, c.outputs, c.outputs + c.gap, c.shift);
  LinearArgs args{.x = data.x.data(), .x_stride = data.x.stride(), .rows = c.rows, .weight = data.weight.view};
  if (c.bias) args.bias = data.bias.data();
  if (c.residual) {
    args.residual = data.residual.data();
    args.residual_stride = data.residual.stride();
  }
  if (c.in_place) {
    for (std::int64_t m = 0; m < c.rows; ++m) std::copy_n(data.residual.row(m), c.outputs, y.row(m));
    args.residual = y.data();
    args.residual_stride = y.stride();
  }
  args.y = y.data();
  args.y_stride = y.stride();
  run_linear(table, args, c.threads);
  return y;
}

// Row n of the weights as the kernels see it.
std::vector<float> weight_row(const LinearData& data, std::int64_t n) {
  std::vector<float> row(static_cast<std::size_t>(data.weight.view.cols));
  const auto id = static_cast<std::int32_t>(n);
  kernels::reference_table().gather_rows(
      {.pool = pool_of(1)}, {.table = data.weight.view, .ids = &id, .rows = 1, .out = row.data(), .out_stride = 0});
  return row;
}

// The sum of magnitudes in the contract's tolerance, without bias and residual: of products, for quants of groups.
double product_magnitude(const LinearData& data, const float* x, const std::vector<float>& w) {
  const std::int64_t cols = data.weight.view.cols;
  double magnitude = 0.0;
  if (!kernels::is_quantised(data.weight.view.format)) {
    for (std::int64_t k = 0; k < cols; ++k) magnitude += std::abs(static_cast<double>(x[k]) * w[k]);
    return magnitude;
  }
  const std::vector<double> quantised = quantised_x(x, cols);
  for (std::int64_t begin = 0; begin < cols; begin += kernels::kGroupCols) {
    double group = 0.0;
    for (std::int64_t k = begin; k < std::min(begin + kernels::kGroupCols, cols); ++k) group += quantised[k] * w[k];
    magnitude += std::abs(group);
  }
  return magnitude;
}

// The number of outputs outside the contract's tolerance.
std::int64_t count_wrong(const LinearCase& c, const LinearData& data, const GuardedRows<float>& expected,
                         const GuardedRows<float>& y) {
  std::int64_t wrong = 0;
  const bool quants = kernels::is_quantised(data.weight.view.format);
  const std::int64_t roundings = quants ? (c.inputs + kernels::kGroupCols - 1) / kernels::kGroupCols + 3 : c.inputs + 2;
  for (std::int64_t n = 0; n < c.outputs; ++n) {
    const std::vector<float> w = weight_row(data, n);
    for (std::int64_t m = 0; m < c.rows; ++m) {
      double magnitude = product_magnitude(data, data.x.row(m), w);
      if (c.bias) magnitude += std::abs(data.bias.data()[n]);
      if (c.residual || c.in_place) magnitude += std::abs(data.residual.row(m)[n]);
      wrong += near(y.row(m)[n], expected.row(m)[n], 0x1p-24 * static_cast<double>(roundings) * magnitude) ? 0 : 1;
    }
  }
  return wrong;
}

void check_conformance(const LinearCase& c) {
  CAPTURE(c.rows);
  CAPTURE(c.outputs);
  CAPTURE(c.inputs);
  CAPTURE(c.gap);
  CAPTURE(c.shift);
  CAPTURE(c.threads);
  for (const PackedFormat format : kFormats) {
    CAPTURE(format);
    PhiloxStream random(static_cast<std::uint64_t>(c.rows * 1000003 + c.outputs * 1009 + c.inputs));
    const LinearData data(c, format, random);
    const GuardedRows<float> expected = run(kernels::reference_table(), c, data);
    on_every_table("linear", [&](const KernelTable& table) {
      const GuardedRows<float> y = run(table, c, data);
      CHECK(count_wrong(c, data, expected, y) == 0);
      CHECK(y.guards_intact());
    });
  }
}

TEST_CASE("linear conforms to the reference for every number of rows, ragged outputs and odd inputs") {
  for (const std::int64_t rows : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 25, 37}) {
    for (const std::int64_t outputs : {1, 15, 16, 17, 101}) {
      for (const std::int64_t inputs : {1, 2, 31, 172}) check_conformance({rows, outputs, inputs});
    }
  }
  for (const std::int64_t rows : {20, 40, 100}) {  // several blocks of rows, several pieces of k
    check_conformance({.rows = rows, .outputs = 43, .inputs = 601, .bias = true, .residual = true});
  }
  for (const std::int64_t inputs : {0, 3, 15, 16, 17, 64, 257}) {
    check_conformance({.rows = 2, .outputs = 0, .inputs = inputs});
    check_conformance({.rows = 2, .outputs = 33, .inputs = inputs, .bias = true});
  }
}

TEST_CASE("linear adds bias and residual, also in place, at any stride and alignment") {
  for (const std::int64_t rows : {1, 4, 13}) {
    for (const std::int64_t shift : {0, 1, 3}) {
      for (const std::int64_t gap : {0, 5}) {
        check_conformance({rows, 83, 57, true, false, false, gap, shift});
        check_conformance({rows, 83, 57, false, true, false, gap, shift});
        check_conformance({rows, 83, 57, true, true, false, gap, shift});
        check_conformance({rows, 83, 57, true, false, true, gap, shift});
      }
    }
  }
}

TEST_CASE("linear conforms to the reference at the shapes of real models") {
  for (const std::int64_t rows : {1, 5}) {
    check_conformance({.rows = rows, .outputs = 64, .inputs = 64});
    check_conformance({.rows = rows, .outputs = 344, .inputs = 64});
    check_conformance({.rows = rows, .outputs = 64, .inputs = 172, .residual = true});
    check_conformance({.rows = rows, .outputs = 512, .inputs = 64});
    check_conformance({.rows = rows, .outputs = 2048, .inputs = 1536, .bias = true, .threads = 2});
  }
  check_conformance({.rows = 1, .outputs = 1536, .inputs = 8960, .residual = true, .threads = 2});
  check_conformance({.rows = 64, .outputs = 172, .inputs = 64, .threads = 3});
}

// Rows alone and in batches, on 1 to 4 threads, against one product of all rows.
void check_row_independence(const KernelTable& table, PackedFormat format, std::int64_t outputs, std::int64_t inputs) {
  constexpr std::int64_t kRows = 300;
  PhiloxStream random(7);
  const LinearCase all{.rows = kRows, .outputs = outputs, .inputs = inputs, .bias = true, .residual = true, .gap = 3};
  const LinearData data(all, format, random);
  const GuardedRows<float> expected = run(table, all, data);
  std::vector<std::int64_t> batches(17);
  std::iota(batches.begin(), batches.end(), 1);
  batches.insert(batches.end(), {64, kRows});
  std::int64_t first = 0;  // a different place for every batch
  for (int threads = 1; threads <= 4; ++threads) {
    for (const std::int64_t rows : batches) {
      CAPTURE(threads);
      CAPTURE(rows);
      first = rows == kRows ? 0 : (first * 31 + 17) % (kRows - rows);
      GuardedRows<float> y(rows, outputs, outputs + 1, 1);
      run_linear(table,
                 {.x = data.x.row(first),
                  .x_stride = data.x.stride(),
                  .rows = rows,
                  .weight = data.weight.view,
                  .bias = data.bias.data(),
                  .residual = data.residual.row(first),
                  .residual_stride = data.residual.stride(),
                  .y = y.data(),
                  .y_stride = y.stride()},
                 threads);
      std::int64_t differing = 0;
      for (std::int64_t m = 0; m < rows; ++m)
        differing += same_bits(y.row(m), expected.row(first + m), outputs) ? 0 : 1;
      CHECK(differing == 0);
    }
  }
}

TEST_CASE("linear gives a row the same bits alone, in every batch and on any number of threads (E1)") {
  for (const KernelTable* table : kernels::cpu_tables()) {
    CAPTURE(table->name);
    for (const PackedFormat format : kFormats) {
      CAPTURE(format);
      check_row_independence(*table, format, /*outputs=*/83, /*inputs=*/57);
      check_row_independence(*table, format, /*outputs=*/1000, /*inputs=*/173);  // one row is shared out to threads
      check_row_independence(*table, format, /*outputs=*/40,
                             /*inputs=*/4501);  // panels larger than a second-level cache's part
    }
  }
}

TEST_CASE("linear gives the same bits on every table with multiply-add") {
  const auto tables = tables_with_fma();
  for (const PackedFormat format : kFormats) {
    CAPTURE(format);
    PhiloxStream random(11);
    const LinearCase c{.rows = 9, .outputs = 75, .inputs = 331, .bias = true, .residual = true};
    const LinearData data(c, format, random);
    for (const KernelTable* table : tables) {
      CHECK(same_bits(run(*table, c, data).data(), run(*tables[0], c, data).data(), c.rows * c.outputs));
    }
  }
}

TEST_CASE("linear passes NaN and infinity on, and the padding of a panel never turns them into more") {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const PackedFormat format : {PackedFormat::kF32, PackedFormat::kBF16}) {
    on_every_table("linear", [&](const KernelTable& table) {
      // Odd K: the last pair of a bf16 panel holds a padding zero, which must not meet an infinite neighbour of x.
      const TestMatrix weight(format, 2, 3, std::vector<float>{1, 1, 1, 0, 2, 1});
      const float x[] = {1, 2, inf, /*not part of the row:*/ nan, nan, 3, 1};
      float y[4] = {};
      table.linear({.pool = pool_of(1)},
                   {.x = x, .x_stride = 4, .rows = 2, .weight = weight.view, .y = y, .y_stride = 2});
      CHECK(y[0] == inf);
      CHECK(y[1] == inf);
      CHECK(std::isnan(y[2]));
      CHECK(std::isnan(y[3]));  // 0 times NaN
    });
  }
}

}  // namespace
}  // namespace minitorch::test
