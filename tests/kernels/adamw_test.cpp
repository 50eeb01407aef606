// adamw: conformance with the reference over several steps, threads, and a step worked out by hand.
#include "kernels/ops/adamw.h"

#include "tests/kernels/rows_support.h"
#include "tests/kernels/table_walk.h"

namespace minitorch::test {
namespace {

using kernels::AdamWArgs;
using kernels::KernelTable;

struct State {
  State(std::int64_t count, PhiloxStream& random)
      : parameter(random_rows(1, count, random, 0, 1)), m(1, count, 0, 2), v(1, count, 0, 3) {
    std::fill_n(m.data(), count, 0.0f);
    std::fill_n(v.data(), count, 0.0f);
  }
  State(const State& other)
      : parameter(copy_of(other.parameter, 0, 1)), m(copy_of(other.m, 0, 2)), v(copy_of(other.v, 0, 3)) {}

  void step(const KernelTable& table, const float* grad, int number, int threads) {
    AdamWArgs args{.parameter = parameter.data(), .grad = grad, .m = m.data(), .v = v.data(), .count = m.cols()};
    args.grad_scale = 0.5f;
    args.lr = 1e-3f;
    args.weight_decay = 0.1f;
    args.correction1 = static_cast<float>(1.0 - std::pow(0.9, number));
    args.correction2 = static_cast<float>(1.0 - std::pow(0.999, number));
    table.adamw({.pool = pool_of(threads)}, args);
  }

  GuardedRows<float> parameter, m, v;
};

TEST_CASE("adamw conforms to the reference for every size, from zero moments on") {
  for (const std::int64_t count : {0, 1, 15, 16, 17, 31, 1009, 20011}) {
    CAPTURE(count);
    PhiloxStream random(1);
    State before(count, random);
    for (int number = 1; number <= 4; ++number) {
      const GuardedRows<float> grad = random_rows(1, count, random, 0, 1);
      State expected(before);
      expected.step(kernels::reference_table(), grad.data(), number, 1);
      on_every_table("adamw", [&](const KernelTable& table) {
        State out(before);
        out.step(table, grad.data(), number, 1);
        const auto g = [&](std::int64_t i) { return 0.5 * std::abs(grad.data()[i]); };
        const double correction2 = 1.0 - std::pow(0.999, number);
        CHECK(count_outside(out.parameter, expected.parameter, [&](std::int64_t, std::int64_t i) {
                const double ratio = g(i) / (std::sqrt(expected.v.data()[i] / correction2) + 1e-8);
                return 1e-6 * (std::abs(before.parameter.data()[i]) + 1e-3 * std::max(1.0, ratio));
              }) == 0);
        CHECK(count_outside(out.m, expected.m, [&](std::int64_t, std::int64_t i) {
                return 1e-6 * (std::abs(before.m.data()[i]) + g(i));
              }) == 0);
        CHECK(count_outside(out.v, expected.v,
                            [&](std::int64_t, std::int64_t i) { return 1e-6 * expected.v.data()[i]; }) == 0);
        CHECK(out.parameter.guards_intact());
        CHECK(out.m.guards_intact());
        CHECK(out.v.guards_intact());
      });
      before.step(kernels::reference_table(), grad.data(), number, 1);
    }
  }
}

TEST_CASE("adamw gives the same bits for every number of threads") {
  PhiloxStream random(2);
  const State before(70001, random);
  const GuardedRows<float> grad = random_rows(1, 70001, random);
  on_every_table("adamw", [&](const KernelTable& table) {
    State expected(before);
    expected.step(table, grad.data(), 1, 1);
    for (int threads = 2; threads <= 4; ++threads) {
      State out(before);
      out.step(table, grad.data(), 1, threads);
      CHECK(same_rows(out.parameter, expected.parameter));
      CHECK(same_rows(out.m, expected.m));
      CHECK(same_rows(out.v, expected.v));
    }
  });
}

TEST_CASE("adamw takes a first step of lr against the gradient's sign, and decays apart from the moments") {
  on_every_table("adamw", [&](const KernelTable& table) {
    float parameter[] = {1.0f, 1.0f, 2.0f};
    const float grad[] = {4.0f, -0.001f, 0.0f};
    float m[3] = {};
    float v[3] = {};
    table.adamw({.pool = pool_of(1)}, {.parameter = parameter,
                                       .grad = grad,
                                       .m = m,
                                       .v = v,
                                       .count = 3,
                                       .lr = 0.01f,
                                       .weight_decay = 0.5f,
                                       .correction1 = 0.1f,
                                       .correction2 = 0.001f});
    CHECK(parameter[0] == doctest::Approx(1.0 - 0.005 - 0.01));
    CHECK(parameter[1] == doctest::Approx(1.0 - 0.005 + 0.01).epsilon(2e-5));
    CHECK(parameter[2] == doctest::Approx(2.0 - 0.01));
    CHECK(m[0] == doctest::Approx(0.4));
    CHECK(v[0] == doctest::Approx(0.016));
    CHECK(m[2] == 0.0f);
  });
}

}  // namespace
}  // namespace minitorch::test
