// matmul: conformance with the reference over shapes and strides, and the order of its sums bit by bit.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "minitorch/base/error.h"
#include "tests/kernels/linear_support.h"
#include "tests/kernels/support.h"
#include "tests/kernels/table_walk.h"

namespace minitorch::test {
namespace {

using kernels::KernelTable;
using kernels::MatmulArgs;

enum class Layout { kRows, kTransposed, kSpread };  // rows contiguous, columns contiguous, neither

struct MatmulCase {
  std::int64_t rows, cols, inner;
  Layout a = Layout::kRows;
  Layout b = Layout::kRows;
  std::int64_t batches = 1;
  bool accumulate = false;
  std::int64_t gap = 0;    // elements between rows
  std::int64_t shift = 0;  // elements off alignment
  int threads = 1;
};

template <typename T>
T random_value(PhiloxStream& random) {
  return static_cast<T>(random.uniform() * 2.0f - 1.0f);
}

// A batch of matrices [batches][rows, cols] in one of the layouts, between guards.
template <typename T>
struct Matrices {
  Matrices(Layout layout, std::int64_t batches, std::int64_t rows, std::int64_t cols, std::int64_t gap,
           std::int64_t shift, PhiloxStream& random)
      : memory(layout == Layout::kTransposed ? batches * cols : batches * rows,
               layout == Layout::kTransposed ? rows : (layout == Layout::kSpread ? 3 * cols : cols),
               (layout == Layout::kTransposed ? rows : (layout == Layout::kSpread ? 3 * cols : cols)) + gap, shift),
        batch((layout == Layout::kTransposed ? cols : rows) * memory.stride()),
        row(layout == Layout::kTransposed ? 1 : memory.stride()),
        col(layout == Layout::kTransposed ? memory.stride() : (layout == Layout::kSpread ? 3 : 1)) {
    for (std::int64_t i = 0; i < memory.rows(); ++i) {
      for (std::int64_t j = 0; j < memory.cols(); ++j) memory.row(i)[j] = random_value<T>(random);
    }
  }
  [[nodiscard]] T at(std::int64_t i, std::int64_t m, std::int64_t n) const {
    return memory.data()[i * batch + m * row + n * col];
  }

  GuardedRows<T> memory;
  std::int64_t batch, row, col;
};

template <typename T>
struct MatmulData {
  MatmulData(const MatmulCase& c, PhiloxStream& random)
      : a(c.a, c.batches, c.rows, c.inner, c.gap, c.shift, random),
        b(c.b, c.batches, c.inner, c.cols, c.gap, c.shift, random),
        before(Layout::kRows, c.batches, c.rows, c.cols, c.gap, c.shift, random) {}

  Matrices<T> a, b;
  Matrices<T> before;  // what is in C
};

template <typename T>
MatmulArgs args_of(const MatmulCase& c, const MatmulData<T>& data, GuardedRows<T>& out) {
  return {.dtype = dtype_of<T>,
          .batches = c.batches,
          .rows = c.rows,
          .cols = c.cols,
          .inner = c.inner,
          .a = data.a.memory.data(),
          .a_batch = data.a.batch,
          .a_row = data.a.row,
          .a_col = data.a.col,
          .b = data.b.memory.data(),
          .b_batch = data.b.batch,
          .b_row = data.b.row,
          .b_col = data.b.col,
          .c = out.data(),
          .c_batch = c.rows * out.stride(),
          .c_row = out.stride(),
          .accumulate = c.accumulate};
}

// Scratch memory of exactly the stated size, the last bytes of a larger block that stays unwritten behind it.
void run_matmul(const KernelTable& table, const MatmulArgs& args, int threads) {
  const std::size_t bytes = kernels::matmul_scratch_bytes(args, threads);
  const Buffer scratch(bytes + 64);
  std::memset(scratch.data(), 0xA5, bytes + 64);
  table.matmul({.pool = pool_of(threads), .scratch = scratch.span().first(bytes)}, args);
  CHECK(std::count(scratch.data() + bytes, scratch.data() + bytes + 64, std::byte{0xA5}) == 64);
}

template <typename T>
GuardedRows<T> run(const KernelTable& table, const MatmulCase& c, const MatmulData<T>& data) {
  GuardedRows<T> out(c.batches * c.rows, c.cols, c.cols + c.gap, c.shift);
  for (std::int64_t i = 0; i < out.rows(); ++i) {
    if (c.accumulate) {
      std::copy_n(data.before.memory.row(i), c.cols, out.row(i));
    } else {
      std::fill_n(out.row(i), c.cols, std::numeric_limits<T>::quiet_NaN());
    }
  }
  run_matmul(table, args_of(c, data, out), c.threads);
  return out;
}

// The number of outputs outside the contract's tolerance.
template <typename T>
std::int64_t count_wrong(const MatmulCase& c, const MatmulData<T>& data, const GuardedRows<T>& expected,
                         const GuardedRows<T>& out) {
  const double unit = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < c.batches; ++i) {
    for (std::int64_t m = 0; m < c.rows; ++m) {
      for (std::int64_t n = 0; n < c.cols; ++n) {
        double magnitude = c.accumulate ? std::abs(static_cast<double>(data.before.at(i, m, n))) : 0.0;
        for (std::int64_t k = 0; k < c.inner; ++k) {
          magnitude += std::abs(static_cast<double>(data.a.at(i, m, k)) * data.b.at(i, k, n));
        }
        const double difference = static_cast<double>(out.row(i * c.rows + m)[n]) - expected.row(i * c.rows + m)[n];
        wrong += std::abs(difference) <= unit * static_cast<double>(c.inner + 1) * magnitude ? 0 : 1;
      }
    }
  }
  return wrong;
}

template <typename T>
void check_conformance(const MatmulCase& c) {
  CAPTURE(name_of(dtype_of<T>));
  CAPTURE(c.rows);
  CAPTURE(c.cols);
  CAPTURE(c.inner);
  CAPTURE(c.a);
  CAPTURE(c.b);
  CAPTURE(c.batches);
  CAPTURE(c.accumulate);
  CAPTURE(c.gap);
  CAPTURE(c.shift);
  CAPTURE(c.threads);
  PhiloxStream random(static_cast<std::uint64_t>(c.rows * 1000003 + c.cols * 1009 + c.inner));
  const MatmulData<T> data(c, random);
  const GuardedRows<T> expected = run(kernels::reference_table(), c, data);
  on_every_table("matmul", [&](const KernelTable& table) {
    const GuardedRows<T> out = run(table, c, data);
    CHECK(count_wrong(c, data, expected, out) == 0);
    CHECK(out.guards_intact());
  });
}

void check_both_types(const MatmulCase& c) {
  check_conformance<float>(c);
  check_conformance<double>(c);
}

constexpr Layout kLayouts[] = {Layout::kRows, Layout::kTransposed, Layout::kSpread};

TEST_CASE("matmul conforms to the reference for every number of rows, ragged columns and odd inner sizes") {
  for (const std::int64_t rows : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 25, 37}) {
    for (const std::int64_t cols : {0, 1, 15, 16, 17, 31, 33, 127, 139}) {
      for (const std::int64_t inner : {0, 1, 16, 31}) check_both_types({rows, cols, inner});
    }
  }
}

TEST_CASE("matmul conforms to the reference for operands of any layout, stride and alignment") {
  for (const Layout a : kLayouts) {
    for (const Layout b : kLayouts) {
      for (const bool accumulate : {false, true}) {
        check_both_types({29, 47, 19, a, b, 1, accumulate});
        check_both_types({13, 16, 17, a, b, 1, accumulate, /*gap=*/5, /*shift=*/3});
        check_both_types({5, 33, 300, a, b, 1, accumulate, /*gap=*/1, /*shift=*/1});
        check_both_types({1, 1, 1, a, b, 1, accumulate});
        check_both_types({3, 18, 0, a, b, 1, accumulate});
      }
    }
  }
}

TEST_CASE("matmul conforms to the reference over batches") {
  for (const Layout a : kLayouts) {
    for (const std::int64_t batches : {0, 2, 5, 16}) {
      check_both_types({14, 20, 9, a, Layout::kTransposed, batches, /*accumulate=*/true, /*gap=*/2});
      check_both_types({40, 50, 60, a, Layout::kRows, batches, false, 0, 0, /*threads=*/3});
    }
  }
}

TEST_CASE("matmul conforms to the reference beyond one block of rows, columns and inner size") {
  check_both_types({251, 40, 601, Layout::kTransposed, Layout::kRows, 1, false, 0, 0, 2});
  check_both_types({7, 1061, 521, Layout::kRows, Layout::kTransposed, 1, true, 0, 0, 3});
  check_conformance<float>({487, 1031, 37, Layout::kSpread, Layout::kSpread, 1, false, 1, 0, 4});
}

TEST_CASE("matmul conforms to the reference with fewer rows and columns than threads") {
  check_both_types({3, 3, 20000, Layout::kRows, Layout::kRows, 1, false, 0, 0, 4});
  check_both_types({1, 3000, 50, Layout::kTransposed, Layout::kRows, 1, true, 0, 0, 4});
  check_both_types({2, 2, 9000, Layout::kRows, Layout::kTransposed, 5, false, 0, 0, 4});
}

TEST_CASE("matmul conforms to the reference at the shapes of a training step") {
  check_conformance<float>({256, 704, 256, Layout::kRows, Layout::kTransposed, 1, false, 0, 0, 2});  // y = x W^T
  check_conformance<float>({256, 256, 704, Layout::kRows, Layout::kRows, 1, true, 0, 0, 2});         // dx = dy W
  check_conformance<float>({256, 128, 1024, Layout::kTransposed, Layout::kRows, 1, true, 0, 0, 2});  // dW = dy^T x
}

// Every part of a large product against the product itself.
void check_independence(const KernelTable& table, Layout a, Layout b, std::int64_t inner) {
  const MatmulCase c{.rows = 150, .cols = 90, .inner = inner, .a = a, .b = b, .batches = 3, .accumulate = true};
  PhiloxStream random(17);
  const MatmulData<float> data(c, random);
  const GuardedRows<float> expected = run(table, c, data);
  for (int threads = 1; threads <= 4; ++threads) {
    for (const std::int64_t rows : {1, 2, 7, 12, 13, 60, 150}) {
      for (const std::int64_t cols : {1, 16, 35, 90}) {
        CAPTURE(threads);
        CAPTURE(rows);
        CAPTURE(cols);
        const std::int64_t m = 150 - rows, n = (90 - cols) / 2, batch = rows % 3;
        GuardedRows<float> out(rows, cols, cols + 1);
        for (std::int64_t i = 0; i < rows; ++i) {
          std::copy_n(data.before.memory.row(batch * 150 + m + i) + n, cols, out.row(i));
        }
        MatmulArgs part = args_of(c, data, out);
        part.batches = 1;
        part.rows = rows;
        part.cols = cols;
        part.a = data.a.memory.data() + batch * data.a.batch + m * data.a.row;
        part.b = data.b.memory.data() + batch * data.b.batch + n * data.b.col;
        run_matmul(table, part, threads);
        std::int64_t differing = 0;
        for (std::int64_t i = 0; i < rows; ++i) {
          differing += same_bits(out.row(i), expected.row(batch * 150 + m + i) + n, cols) ? 0 : 1;
        }
        CHECK(differing == 0);
      }
    }
  }
}

TEST_CASE(
    "matmul gives an output the same bits whatever rows, columns, batches and threads are computed with it (E1)") {
  for (const KernelTable* table : kernels::cpu_tables()) {
    CAPTURE(table->name);
    check_independence(*table, Layout::kRows, Layout::kTransposed, 40);
    check_independence(*table, Layout::kTransposed, Layout::kRows, 523);
    check_independence(*table, Layout::kSpread, Layout::kSpread, 33);
  }
}

TEST_CASE("matmul of f64 gives the same bits on any number of threads") {
  for (const KernelTable* table : kernels::cpu_tables()) {
    PhiloxStream random(23);
    MatmulCase c{.rows = 61, .cols = 70, .inner = 50, .batches = 2};
    const MatmulData<double> data(c, random);
    const GuardedRows<double> expected = run(*table, c, data);
    for (c.threads = 2; c.threads <= 4; ++c.threads) {
      const GuardedRows<double> out = run(*table, c, data);
      CHECK(same_bits(out.data(), expected.data(), c.batches * c.rows * c.cols));
    }
  }
}

TEST_CASE("matmul equals linear bit for bit, whatever the layout of its operands") {
  for (const KernelTable* table : kernels::cpu_tables()) {
    CAPTURE(table->name);
    for (const std::int64_t inner : {1, 57, 640}) {
      constexpr std::int64_t kRows = 50, kCols = 83;
      CAPTURE(inner);
      PhiloxStream random(29);
      const std::vector<float> x = random_floats(kRows * inner, random);
      const std::vector<float> w = random_floats(kCols * inner, random);
      const TestMatrix packed(kernels::PackedFormat::kF32, kCols, inner, w);
      GuardedRows<float> expected(kRows, kCols), out(kRows, kCols);
      run_linear(*table, {.x = x.data(),
                          .x_stride = inner,
                          .rows = kRows,
                          .weight = packed.view,
                          .y = expected.data(),
                          .y_stride = kCols});
      MatmulArgs args{.rows = kRows, .cols = kCols, .inner = inner, .c = out.data(), .c_row = kCols};
      args.a = x.data();
      args.a_row = inner;
      args.a_col = 1;
      args.b = w.data();
      args.b_row = 1;
      args.b_col = inner;
      run_matmul(*table, args, 2);
      CHECK(same_bits(out.data(), expected.data(), kRows * kCols));

      std::vector<float> x_transposed(x.size()), w_transposed(w.size());
      for (std::int64_t k = 0; k < inner; ++k) {
        for (std::int64_t m = 0; m < kRows; ++m) x_transposed[k * kRows + m] = x[m * inner + k];
        for (std::int64_t n = 0; n < kCols; ++n) w_transposed[k * kCols + n] = w[n * inner + k];
      }
      args.a = x_transposed.data();
      args.a_row = 1;
      args.a_col = kRows;
      args.b = w_transposed.data();
      args.b_row = kCols;
      args.b_col = 1;
      run_matmul(*table, args, 2);
      CHECK(same_bits(out.data(), expected.data(), kRows * kCols));
    }
  }
}

TEST_CASE("matmul gives the same bits on every table with multiply-add") {
  const auto tables = tables_with_fma();
  for (const Layout a : kLayouts) {
    PhiloxStream random(31);
    const MatmulCase c{.rows = 41, .cols = 75, .inner = 331, .a = a, .b = Layout::kTransposed, .accumulate = true};
    const MatmulData<float> data(c, random);
    for (std::size_t i = 1; i < tables.size(); ++i) {
      CAPTURE(tables[i]->name);
      const GuardedRows<float> first = run(*tables[0], c, data);
      const GuardedRows<float> other = run(*tables[i], c, data);
      CHECK(same_bits(first.data(), other.data(), c.rows * c.cols));
    }
  }
}

TEST_CASE("matmul passes NaN and infinity on to the outputs that depend on them, and to no others") {
  on_every_table("matmul", [](const KernelTable& table) {
    PhiloxStream random(37);
    const MatmulCase c{.rows = 14, .cols = 21, .inner = 18};
    MatmulData<float> data(c, random);
    data.a.memory.row(3)[17] = std::numeric_limits<float>::quiet_NaN();
    data.b.memory.row(0)[20] = std::numeric_limits<float>::infinity();
    const GuardedRows<float> out = run(table, c, data);
    std::int64_t wrong = 0;
    for (std::int64_t m = 0; m < c.rows; ++m) {
      for (std::int64_t n = 0; n < c.cols; ++n) {
        wrong += std::isnan(out.row(m)[n]) != (m == 3) || std::isfinite(out.row(m)[n]) == (m == 3 || n == 20);
      }
    }
    CHECK(wrong == 0);
  });
}

TEST_CASE("matmul refuses other element types and scratch memory that is too small") {
  float value = 0.0f;
  MatmulArgs args{.rows = 1, .cols = 1, .inner = 1, .a = &value, .b = &value, .c = &value};
  for (const KernelTable* table : kernels::cpu_tables()) {
    CHECK_THROWS_AS(table->matmul({.pool = pool_of(1)}, args), Error);
  }
  args.dtype = DType::kBF16;
  const Buffer scratch(4096);
  on_every_table("matmul", [&](const KernelTable& table) {
    CHECK_THROWS_AS(table.matmul({.pool = pool_of(1), .scratch = scratch.span()}, args), Error);
  });
}

}  // namespace
}  // namespace minitorch::test
