// map: every unary function of kernels/pointwise.def on every layout.
#include "kernels/ops/pointwise.h"
#include "tests/kernels/strided_support.h"
#include "tests/kernels/table_walk.h"

namespace minitorch::test {
namespace {

using kernels::KernelTable;
using kernels::MapArgs;
using kernels::UnaryOp;

struct NamedOp {
  const char* name;
  UnaryOp op;
};
constexpr NamedOp kOps[] = {
#define MT_UNARY(name, Functor) {#name, UnaryOp::k##Functor},
#define MT_BINARY(name, Functor)
#define MT_COMPARE(name, Functor)
#include "kernels/pointwise.def"
#undef MT_UNARY
#undef MT_BINARY
#undef MT_COMPARE
};

template <typename T>
void run(const KernelTable& table, UnaryOp op, const Shape& shape, const Strided<T>& x, Strided<T>& out, int threads) {
  MapArgs args{.op = op, .dtype = dtype_of<T>, .dims = static_cast<int>(shape.size())};
  set_dims(args.shape, shape);
  args.x = x.data();
  set_dims(args.x_strides, x.strides);
  args.out = out.data();
  set_dims(args.out_strides, out.strides);
  table.map({.pool = pool_of(threads)}, args);
}

bool cancels(UnaryOp op) { return op == UnaryOp::kGelu || op == UnaryOp::kGeluTanh; }

// The contract's tolerance around `expected`, at x.
double tolerance_of(UnaryOp op, float x, float expected) {
  return 4.0 * unit_in_last_place(cancels(op) ? x : expected) + 1e-37;
}

// f32 against the reference; places of x and out are the same here.
void check_values(const NamedOp& op, std::int64_t count, float from, float to) {
  CAPTURE(op.name);
  const Shape shape{count};
  Strided<float> x(shape, kPlain);
  for (std::int64_t i = 0; i < count; ++i) {
    x.data()[i] = from + (to - from) * static_cast<float>(i) / static_cast<float>(count);
  }
  Strided<float> expected(shape, kPlain);
  run(kernels::reference_table(), op.op, shape, x, expected, 1);
  on_every_table("map", [&](const KernelTable& table) {
    Strided<float> out(shape, kPlain);
    run(table, op.op, shape, x, out, 1);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      wrong += near(out.data()[i], expected.data()[i], tolerance_of(op.op, x.data()[i], expected.data()[i])) ? 0 : 1;
    }
    CHECK(wrong == 0);
  });
}

TEST_CASE("map is within its tolerance from far negative to far positive arguments") {
  for (const NamedOp& op : kOps) {
    check_values(op, 20011, -1.0f, 1.0f);
    check_values(op, 20011, -12.0f, 12.0f);
    check_values(op, 20011, -120.0f, 120.0f);
  }
}

TEST_CASE("map treats zeros, infinities, NaN and the ends of the range as the reference does") {
  PhiloxStream random(1);
  const Shape shape{1009};
  Strided<float> x(shape, kPlain);
  fill_special(x.data(), x.size(), random);
  for (const NamedOp& op : kOps) {
    CAPTURE(op.name);
    Strided<float> expected(shape, kPlain);
    run(kernels::reference_table(), op.op, shape, x, expected, 1);
    on_every_table("map", [&](const KernelTable& table) {
      Strided<float> out(shape, kPlain);
      run(table, op.op, shape, x, out, 1);
      std::int64_t wrong = 0;
      float wrong_at = 0.0f;
      for (std::int64_t i = 0; i < out.size(); ++i) {
        const double tolerance = tolerance_of(op.op, x.data()[i], expected.data()[i]);
        if (near(out.data()[i], expected.data()[i], tolerance)) continue;
        wrong_at = x.data()[i];
        ++wrong;
      }
      CAPTURE(wrong_at);
      CHECK(wrong == 0);
    });
  }
}

// Layouts: the numbers were judged above, so a table's contiguous result says what its others have to be.
template <typename T>
void check_layout(const KernelTable& table, const NamedOp& op, const Shape& shape, const Layout& from, const Layout& to,
                  int threads) {
  CAPTURE(op.name);
  CAPTURE(threads);
  PhiloxStream random(2);
  Strided<T> x(shape, from);
  fill_special(x.data(), x.size(), random);
  Strided<T> values(shape, to);  // f(x) by the reference, for the places
  Strided<T> out(shape, to);
  run(kernels::reference_table(), op.op, shape, x, values, 1);
  run(table, op.op, shape, x, out, threads);
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < out.size(); ++i) {
    const T expected = values.data()[i];
    const T got = out.data()[i];
    // Elements far below 1 are judged by the tests above: here only places matter.
    const double tolerance = sizeof(T) == 8 ? 0.0 : 1e-4 * std::max(1.0, std::abs(static_cast<double>(expected)));
    wrong += same_number(got, expected) || std::abs(static_cast<double>(got - expected)) <= tolerance ? 0 : 1;
  }
  CHECK(wrong == 0);
  CHECK(out.memory.guards_intact());
}

TEST_CASE("map follows every layout in f32, and in f64 gives the functor itself") {
  for (const Shape& shape : small_shapes()) {
    CAPTURE(shape.size());
    for (const Layout& from : kInputLayouts) {
      for (const Layout& to : kOutputLayouts) {
        on_every_table("map", [&](const KernelTable& table) {
          for (const NamedOp& op : {kOps[0], kOps[6], kOps[12]}) {  // neg, exp, sigmoid
            check_layout<float>(table, op, shape, from, to, 1);
            check_layout<double>(table, op, shape, from, to, 1);
          }
        });
      }
    }
  }
  for (const NamedOp& op : kOps) {
    on_every_table("map", [&](const KernelTable& table) { check_layout<double>(table, op, {1009}, {}, {}, 1); });
  }
}

TEST_CASE("map gives the same bits for every number of threads and in place") {
  PhiloxStream random(3);
  for (const NamedOp& op : kOps) {
    CAPTURE(op.name);
    on_every_table("map", [&](const KernelTable& table) {
      for (const Shape& shape : {Shape{60013}, Shape{301, 201}}) {
        Strided<float> x(shape, {.reversed = shape.size() == 2});
        fill_special(x.data(), x.size(), random);
        Strided<float> expected(shape, kPlain);
        run(table, op.op, shape, x, expected, 1);
        for (int threads = 2; threads <= 4; ++threads) {
          Strided<float> out(shape, kPlain);
          run(table, op.op, shape, x, out, threads);
          CHECK(same_bits(out.data(), expected.data(), out.size()));
        }
        if (shape.size() == 2) continue;
        run(table, op.op, shape, x, x, 2);
        CHECK(same_bits(x.data(), expected.data(), x.size()));
      }
    });
  }
}

TEST_CASE("map has PyTorch's special values") {
  const auto value_of = [](const KernelTable& table, UnaryOp op, float x) {
    float out = 0.0f;
    table.map({.pool = pool_of(1)}, {.op = op, .x = &x, .out = &out});
    return out;
  };
  const float inf = std::numeric_limits<float>::infinity();
  on_every_table("map", [&](const KernelTable& table) {
    CHECK(std::isnan(value_of(table, UnaryOp::kRelu, std::nanf(""))));
    CHECK(value_of(table, UnaryOp::kRelu, -inf) == 0.0f);
    CHECK(value_of(table, UnaryOp::kReciprocal, 0.0f) == inf);
    CHECK(std::isnan(value_of(table, UnaryOp::kSqrt, -1.0f)));
    CHECK(value_of(table, UnaryOp::kLog, 0.0f) == -inf);
    CHECK(value_of(table, UnaryOp::kTanh, inf) == 1.0f);
    CHECK(value_of(table, UnaryOp::kErf, -inf) == -1.0f);
    CHECK(value_of(table, UnaryOp::kSigmoid, -inf) == 0.0f);
    CHECK(std::isnan(value_of(table, UnaryOp::kGelu, std::nanf(""))));
    CHECK(value_of(table, UnaryOp::kGelu, 1.0f) == doctest::Approx(0.8413447f).epsilon(1e-6));
    CHECK(value_of(table, UnaryOp::kGeluTanh, 1.0f) == doctest::Approx(0.8411920f).epsilon(1e-6));
    CHECK(value_of(table, UnaryOp::kGelu, -2.0f) == doctest::Approx(-0.0455003f).epsilon(1e-5));
    CHECK(value_of(table, UnaryOp::kGeluTanh, -2.0f) == doctest::Approx(-0.0454023f).epsilon(1e-5));
    CHECK(value_of(table, UnaryOp::kSilu, 1.0f) == doctest::Approx(0.7310586f).epsilon(1e-6));
  });
}

}  // namespace
}  // namespace minitorch::test
