// silu_mul: conformance with the reference, far ends of the exponential, and the accuracy of exp itself.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>  // std::exp, std::nextafter
#include <limits>

#include "kernels/cpu/vec_scalar.h"
#include "tests/kernels/support.h"
#include "tests/kernels/table_walk.h"

namespace minitorch::kernels::scalar {
namespace {
#include "kernels/cpu/math.inl"
}  // namespace
}  // namespace minitorch::kernels::scalar

namespace minitorch::test {
namespace {

using kernels::KernelTable;

GuardedRows<float> run(const KernelTable& table, const GuardedRows<float>& gate, const GuardedRows<float>& up,
                       int threads = 1) {
  GuardedRows<float> out(gate.rows(), gate.cols(), gate.cols() + 5, 3);
  table.silu_mul({.pool = pool_of(threads)}, {.gate = gate.data(),
                                              .gate_stride = gate.stride(),
                                              .up = up.data(),
                                              .up_stride = up.stride(),
                                              .out = out.data(),
                                              .out_stride = out.stride(),
                                              .rows = gate.rows(),
                                              .cols = gate.cols()});
  return out;
}

void check(const GuardedRows<float>& gate, const GuardedRows<float>& up, int threads) {
  CAPTURE(gate.cols());
  const GuardedRows<float> expected = run(kernels::reference_table(), gate, up);
  on_every_table("silu_mul", [&](const KernelTable& table) {
    const GuardedRows<float> out = run(table, gate, up, threads);
    std::int64_t wrong = 0;
    for (std::int64_t m = 0; m < gate.rows(); ++m) {
      for (std::int64_t c = 0; c < gate.cols(); ++c) {
        const double tolerance = 4e-6 * std::abs(expected.row(m)[c]) + 1e-37 * std::max(1.0f, std::abs(up.row(m)[c]));
        wrong += near(out.row(m)[c], expected.row(m)[c], tolerance) ? 0 : 1;
      }
    }
    CHECK(wrong == 0);
    CHECK(out.guards_intact());
  });
}

TEST_CASE("silu_mul conforms to the reference for every width") {
  PhiloxStream random(1);
  for (const std::int64_t cols : {0, 1, 15, 16, 17, 31, 172, 1023, 1024, 1025, 2053}) {
    for (const std::int64_t rows : {0, 1, 3}) {
      check(random_rows(rows, cols, random, cols + 1, 1), random_rows(rows, cols, random, cols + 2, 2), 1);
    }
  }
  const GuardedRows<float> gate = random_rows(9, 8960, random);
  const GuardedRows<float> up = random_rows(9, 8960, random);
  for (int threads = 1; threads <= 4; ++threads) check(gate, up, threads);
}

TEST_CASE("silu_mul conforms to the reference from -120 to 120") {
  constexpr std::int64_t kCount = 24001;
  GuardedRows<float> gate(1, kCount);
  GuardedRows<float> up(1, kCount);
  for (std::int64_t i = 0; i < kCount; ++i) {
    gate.data()[i] = static_cast<float>(i - kCount / 2) * 0.01f;
    up.data()[i] = 1.0f + 0.001f * static_cast<float>(i % 7);
  }
  check(gate, up, 1);
}

TEST_CASE("silu_mul passes NaN on and writes over its inputs") {
  on_every_table("silu_mul", [&](const KernelTable& table) {
    std::vector<float> gate(20, 0.5f);
    std::vector<float> up(20, 2.0f);
    gate[3] = std::nanf("");
    up[18] = std::nanf("");
    for (float* out : {up.data(), gate.data()}) {
      table.silu_mul({.pool = pool_of(1)}, {.gate = gate.data(), .up = up.data(), .out = out, .rows = 1, .cols = 20});
      CHECK(std::isnan(out[3]));
      CHECK(std::isnan(out[18]));
      CHECK(std::isfinite(out[19]));
    }
  });
}

TEST_CASE("silu_mul gives the same bits on every table with multiply-add") {
  const auto tables = tables_with_fma();
  PhiloxStream random(5);
  GuardedRows<float> gate = random_rows(1, 20000, random);
  for (std::int64_t i = 0; i < 20000; ++i) gate.data()[i] *= 100.0f;
  const GuardedRows<float> up = random_rows(1, 20000, random);
  for (const KernelTable* table : tables) {
    CHECK(same_bits(run(*table, gate, up).data(), run(*tables[0], gate, up).data(), 20000));
  }
}

float exp_of(float x) {
  alignas(64) float lanes[16];
  kernels::scalar::store(lanes, kernels::scalar::exp(kernels::scalar::broadcast(x)));
  return lanes[0];
}

TEST_CASE("exp is within 2 units in the last place, down to the smallest numbers") {
  double worst = 0.0;
  for (float x = -104.0f; x < 88.7f; x += 0.0013f) {
    const double exact = std::exp(static_cast<double>(x));
    const auto rounded = static_cast<float>(exact);
    const double unit = static_cast<double>(std::nextafter(rounded, std::numeric_limits<float>::infinity())) - rounded;
    worst = std::max(worst, std::abs(exp_of(x) - exact) / unit);
  }
  CAPTURE(worst);
  CHECK(worst <= 2.0);
}

TEST_CASE("exp has exact ends") {
  const float inf = std::numeric_limits<float>::infinity();
  CHECK(exp_of(0.0f) == 1.0f);
  CHECK(exp_of(-0.0f) == 1.0f);
  CHECK(exp_of(-inf) == 0.0f);
  CHECK(exp_of(-104.0f) == 0.0f);
  CHECK(exp_of(-3e38f) == 0.0f);
  CHECK(exp_of(inf) == inf);
  CHECK(exp_of(89.0f) == inf);
  CHECK(std::isnan(exp_of(std::nanf(""))));
}

}  // namespace
}  // namespace minitorch::test
