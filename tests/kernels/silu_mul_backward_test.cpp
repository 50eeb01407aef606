// silu_mul_backward: conformance with the reference, far ends of the exponential, threads, writing over its inputs.
#include "kernels/ops/silu_mul.h"
#include "tests/kernels/rows_support.h"
#include "tests/kernels/table_walk.h"

namespace minitorch::test {
namespace {

using kernels::KernelTable;

struct Gradients {
  GuardedRows<float> dgate;
  GuardedRows<float> dup;
};

void run_into(const KernelTable& table, const GuardedRows<float>& gate, const GuardedRows<float>& up,
              const GuardedRows<float>& dout, GuardedRows<float>& dgate, GuardedRows<float>& dup, int threads) {
  table.silu_mul_backward({.pool = pool_of(threads)}, {.gate = gate.data(),
                                                       .gate_stride = gate.stride(),
                                                       .up = up.data(),
                                                       .up_stride = up.stride(),
                                                       .dout = dout.data(),
                                                       .dout_stride = dout.stride(),
                                                       .dgate = dgate.data(),
                                                       .dgate_stride = dgate.stride(),
                                                       .dup = dup.data(),
                                                       .dup_stride = dup.stride(),
                                                       .rows = gate.rows(),
                                                       .cols = gate.cols()});
}

Gradients run(const KernelTable& table, const GuardedRows<float>& gate, const GuardedRows<float>& up,
              const GuardedRows<float>& dout, int threads = 1) {
  Gradients out{{gate.rows(), gate.cols(), gate.cols() + 1, 1}, {gate.rows(), gate.cols(), gate.cols() + 2, 2}};
  run_into(table, gate, up, dout, out.dgate, out.dup, threads);
  return out;
}

void check(const GuardedRows<float>& gate, const GuardedRows<float>& up, const GuardedRows<float>& dout, int threads) {
  CAPTURE(gate.cols());
  const Gradients expected = run(kernels::reference_table(), gate, up, dout);
  on_every_table("silu_mul_backward", [&](const KernelTable& table) {
    const Gradients out = run(table, gate, up, dout, threads);
    const auto tolerance = [&](std::int64_t m, std::int64_t c) {
      const double size = std::max(1.0f, std::abs(gate.row(m)[c])) * std::max(1.0f, std::abs(up.row(m)[c]));
      return 1e-5 * size * std::abs(dout.row(m)[c]) + 1e-37;
    };
    CHECK(count_outside(out.dgate, expected.dgate, tolerance) == 0);
    CHECK(count_outside(out.dup, expected.dup, tolerance) == 0);
    CHECK(out.dgate.guards_intact());
    CHECK(out.dup.guards_intact());
  });
}

TEST_CASE("silu_mul_backward conforms to the reference for every width") {
  PhiloxStream random(1);
  for (const std::int64_t cols : kWidths) {
    for (const std::int64_t rows : {0, 1, 3}) {
      GuardedRows<float> gate = random_rows(rows, cols, random, cols + 1, 1);
      scale_rows(gate, 5.0f);
      check(gate, random_rows(rows, cols, random, cols + 2, 2), random_rows(rows, cols, random, cols + 3, 3), 1);
    }
  }
}

TEST_CASE("silu_mul_backward conforms to the reference from -120 to 120 and passes NaN on") {
  constexpr std::int64_t kCount = 24001;
  PhiloxStream random(2);
  GuardedRows<float> gate(1, kCount);
  for (std::int64_t i = 0; i < kCount; ++i) gate.data()[i] = static_cast<float>(i - kCount / 2) * 0.01f;
  gate.data()[100] = std::nanf("");
  check(gate, random_rows(1, kCount, random), random_rows(1, kCount, random), 1);
  const Gradients out = run(kernels::best_cpu_table(), gate, gate, gate);
  CHECK(std::isnan(out.dgate.data()[100]));
  CHECK(std::isnan(out.dup.data()[100]));
}

TEST_CASE("silu_mul_backward gives the same bits for every number of threads and over gate and up") {
  PhiloxStream random(3);
  const GuardedRows<float> gate = random_rows(33, 1409, random);
  const GuardedRows<float> up = random_rows(33, 1409, random);
  const GuardedRows<float> dout = random_rows(33, 1409, random);
  on_every_table("silu_mul_backward", [&](const KernelTable& table) {
    const Gradients expected = run(table, gate, up, dout);
    for (int threads = 2; threads <= 4; ++threads) {
      const Gradients out = run(table, gate, up, dout, threads);
      CHECK(same_rows(out.dgate, expected.dgate));
      CHECK(same_rows(out.dup, expected.dup));
    }
    GuardedRows<float> over_gate = copy_of(gate);
    GuardedRows<float> over_up = copy_of(up);
    run_into(table, over_gate, over_up, dout, over_gate, over_up, 2);
    CHECK(same_rows(over_gate, expected.dgate));
    CHECK(same_rows(over_up, expected.dup));
  });
}

}  // namespace
}  // namespace minitorch::test
