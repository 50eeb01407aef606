// zip: every binary function of kernels/pointwise.def on every pair of layouts.
#include "kernels/ops/pointwise.h"
#include "tests/kernels/strided_support.h"
#include "tests/kernels/table_walk.h"

namespace minitorch::test {
namespace {

using kernels::BinaryOp;
using kernels::KernelTable;
using kernels::ZipArgs;

struct NamedOp {
  const char* name;
  BinaryOp op;
  bool compares;
};
constexpr NamedOp kOps[] = {
#define MT_UNARY(name, Functor)
#define MT_BINARY(name, Functor) {#name, BinaryOp::k##Functor, false},
#define MT_COMPARE(name, Functor) {#name, BinaryOp::k##Functor, true},
#include "kernels/pointwise.def"
#undef MT_UNARY
#undef MT_BINARY
#undef MT_COMPARE
};

template <typename T, typename Out>
void run(const KernelTable& table, BinaryOp op, const Shape& shape, const Strided<T>& a, const Strided<T>& b,
         Strided<Out>& out, int threads) {
  ZipArgs args{.op = op, .dtype = dtype_of<T>, .dims = static_cast<int>(shape.size())};
  set_dims(args.shape, shape);
  args.a = a.data();
  set_dims(args.a_strides, a.strides);
  args.b = b.data();
  set_dims(args.b_strides, b.strides);
  args.out = out.data();
  set_dims(args.out_strides, out.strides);
  table.zip({.pool = pool_of(threads)}, args);
}

// pow has a tolerance; everything else is exact.
template <typename T, typename Out>
bool conforms(BinaryOp op, Out got, Out expected) {
  if constexpr (sizeof(Out) == sizeof(float)) {
    if (op == BinaryOp::kPow) return near(got, expected, 4.0 * unit_in_last_place(expected) + 1e-37);
  }
  return same_number(got, expected);
}

template <typename T, typename Out>
void check(const KernelTable& table, const NamedOp& op, const Shape& shape, const Layout (&layouts)[3], int threads) {
  PhiloxStream random(4);
  Strided<T> a(shape, layouts[0]);
  Strided<T> b(shape, layouts[1]);
  fill_special(a.data(), a.size(), random);
  fill_special(b.data(), b.size(), random);
  for (std::int64_t i = 0; i < std::min(a.size(), b.size()); i += 5) b.data()[i] = a.data()[i];  // ties
  Strided<Out> expected(shape, layouts[2]);
  Strided<Out> out(shape, layouts[2]);
  run(kernels::reference_table(), op.op, shape, a, b, expected, 1);
  run(table, op.op, shape, a, b, out, threads);
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < out.size(); ++i) {
    wrong += conforms<T>(op.op, out.data()[i], expected.data()[i]) ? 0 : 1;
  }
  CAPTURE(op.name);
  CAPTURE(threads);
  CHECK(wrong == 0);
  CHECK(out.memory.guards_intact());
}

template <typename T>
void check_op(const KernelTable& table, const NamedOp& op, const Shape& shape, const Layout (&layouts)[3],
              int threads) {
  op.compares ? check<T, bool>(table, op, shape, layouts, threads) : check<T, T>(table, op, shape, layouts, threads);
}

TEST_CASE("zip conforms to the reference for every function, type and pair of layouts") {
  for (const Shape& shape : small_shapes()) {
    CAPTURE(shape.size());
    on_every_table("zip", [&](const KernelTable& table) {
      for (const Layout& left : kInputLayouts) {
        for (const Layout& right : kInputLayouts) {
          for (const NamedOp& op : {kOps[1], kOps[8]}) {  // sub and a comparison
            check_op<float>(table, op, shape, {left, right, kPlain}, 1);
            check_op<double>(table, op, shape, {left, right, {.reversed = true, .step = 2}}, 1);
          }
        }
      }
    });
  }
  for (const NamedOp& op : kOps) {
    on_every_table("zip", [&](const KernelTable& table) {
      for (const Shape& shape : {Shape{2003}, Shape{37, 53}}) {
        for (const Layout& right : {kInputLayouts[0], kInputLayouts[1], kInputLayouts[3], kInputLayouts[4]}) {
          check_op<float>(table, op, shape, {kPlain, right, kPlain}, 1);
          check_op<double>(table, op, shape, {right, kPlain, kPlain}, 1);
        }
      }
    });
  }
}

TEST_CASE("zip gives the same bits for every number of threads and in place") {
  PhiloxStream random(5);
  const Shape shape{211, 307};
  for (const NamedOp& op : kOps) {
    CAPTURE(op.name);
    if (op.compares) continue;
    on_every_table("zip", [&](const KernelTable& table) {
      Strided<float> a(shape, kPlain);
      Strided<float> b(shape, {.reversed = true});
      fill_special(a.data(), a.size(), random);
      fill_special(b.data(), b.size(), random);
      Strided<float> expected(shape, kPlain);
      run(table, op.op, shape, a, b, expected, 1);
      for (int threads = 2; threads <= 4; ++threads) {
        Strided<float> out(shape, kPlain);
        run(table, op.op, shape, a, b, out, threads);
        CHECK(same_bits(out.data(), expected.data(), out.size()));
      }
      run(table, op.op, shape, a, b, a, 2);
      CHECK(same_bits(a.data(), expected.data(), a.size()));
    });
  }
}

TEST_CASE("zip has PyTorch's special values") {
  const auto value_of = [](const KernelTable& table, BinaryOp op, float a, float b) {
    float out = 0.0f;
    table.zip({.pool = pool_of(1)}, {.op = op, .a = &a, .b = &b, .out = &out});
    return out;
  };
  const auto compare = [](const KernelTable& table, BinaryOp op, float a, float b) {
    bool out = false;
    table.zip({.pool = pool_of(1)}, {.op = op, .a = &a, .b = &b, .out = &out});
    return out;
  };
  const float nan = std::nanf("");
  on_every_table("zip", [&](const KernelTable& table) {
    for (const BinaryOp op : {BinaryOp::kMaximum, BinaryOp::kMinimum}) {
      CHECK(std::isnan(value_of(table, op, nan, 1.0f)));
      CHECK(std::isnan(value_of(table, op, 1.0f, nan)));
    }
    CHECK(value_of(table, BinaryOp::kMaximum, -1.0f, 2.0f) == 2.0f);
    CHECK(value_of(table, BinaryOp::kMinimum, -1.0f, 2.0f) == -1.0f);
    CHECK(value_of(table, BinaryOp::kPow, nan, 0.0f) == 1.0f);
    CHECK(value_of(table, BinaryOp::kDiv, 1.0f, 0.0f) == std::numeric_limits<float>::infinity());
    CHECK(!compare(table, BinaryOp::kEq, nan, nan));
    CHECK(compare(table, BinaryOp::kNe, nan, nan));
    CHECK(!compare(table, BinaryOp::kGe, nan, nan));
    CHECK(compare(table, BinaryOp::kEq, 0.0f, -0.0f));
    CHECK(compare(table, BinaryOp::kLe, 2.0f, 2.0f));
    CHECK(!compare(table, BinaryOp::kLt, 2.0f, 2.0f));
  });
}

}  // namespace
}  // namespace minitorch::test
