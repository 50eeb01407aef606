// where: choice between two operands on every layout.
#include "kernels/ops/pointwise.h"
#include "tests/kernels/strided_support.h"
#include "tests/kernels/table_walk.h"

namespace minitorch::test {
namespace {

using kernels::KernelTable;
using kernels::WhereArgs;

template <typename T>
void run(const KernelTable& table, const Shape& shape, const Strided<bool>& condition, const Strided<T>& a,
         const Strided<T>& b, Strided<T>& out, int threads) {
  WhereArgs args{.dtype = dtype_of<T>, .dims = static_cast<int>(shape.size())};
  set_dims(args.shape, shape);
  args.condition = condition.data();
  set_dims(args.condition_strides, condition.strides);
  args.a = a.data();
  set_dims(args.a_strides, a.strides);
  args.b = b.data();
  set_dims(args.b_strides, b.strides);
  args.out = out.data();
  set_dims(args.out_strides, out.strides);
  table.where({.pool = pool_of(threads)}, args);
}

template <typename T>
void check(const KernelTable& table, const Shape& shape, const Layout (&layouts)[3], int threads) {
  PhiloxStream random(6);
  Strided<bool> condition(shape, layouts[0]);
  for (std::int64_t i = 0; i < condition.size(); ++i) condition.data()[i] = random.below(2) == 1;
  Strided<T> a(shape, layouts[1]);
  Strided<T> b(shape, layouts[2]);
  fill_special(a.data(), a.size(), random);
  fill_special(b.data(), b.size(), random);
  for (const Layout& to : kOutputLayouts) {
    Strided<T> expected(shape, to);
    Strided<T> out(shape, to);
    run(kernels::reference_table(), shape, condition, a, b, expected, 1);
    run(table, shape, condition, a, b, out, threads);
    CHECK(count_differing(out, expected) == 0);
    CHECK(out.memory.guards_intact());
  }
}

TEST_CASE("where conforms to the reference for every layout of its operands") {
  for (const Shape& shape : small_shapes()) {
    CAPTURE(shape.size());
    on_every_table("where", [&](const KernelTable& table) {
      for (const Layout& layout : kInputLayouts) {
        check<float>(table, shape, {layout, kPlain, kPlain}, 1);
        check<float>(table, shape, {kPlain, layout, {.broadcast = ~0u}}, 1);
        check<double>(table, shape, {layout, kPlain, layout}, 1);
      }
    });
  }
}

TEST_CASE("where gives the same result for every number of threads") {
  for (int threads = 1; threads <= 4; ++threads) {
    CAPTURE(threads);
    on_every_table("where", [&](const KernelTable& table) {
      check<float>(table, {307, 211}, {kPlain, {.reversed = true}, {.broadcast = 1}}, threads);
      check<double>(table, {60013}, {kPlain, kPlain, {.broadcast = 1}}, threads);
    });
  }
}

TEST_CASE("where chooses a where the condition holds") {
  const bool condition[] = {true, false, true};
  const float a[] = {1.0f, 2.0f, 3.0f};
  const float b[] = {-1.0f, -2.0f, std::nanf("")};
  on_every_table("where", [&](const KernelTable& table) {
    float out[3] = {};
    table.where({.pool = pool_of(1)}, {.dims = 1,
                                       .shape = {3},
                                       .condition = condition,
                                       .condition_strides = {1},
                                       .a = a,
                                       .a_strides = {1},
                                       .b = b,
                                       .b_strides = {1},
                                       .out = out,
                                       .out_strides = {1}});
    CHECK(out[0] == 1.0f);
    CHECK(out[1] == -2.0f);
    CHECK(out[2] == 3.0f);
  });
}

}  // namespace
}  // namespace minitorch::test
