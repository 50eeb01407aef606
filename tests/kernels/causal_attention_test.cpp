// causal_attention and its backward: conformance with the reference, and the promises about sequences, rows and
// threads bit by bit.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "minitorch/base/error.h"
#include "tests/kernels/causal_attention_support.h"

namespace minitorch::test {
namespace {

using namespace causal;

void check_conformance(const CausalCase& c) {
  CAPTURE(c.head_dim);
  CAPTURE(c.kv_heads);
  CAPTURE(c.group);
  CAPTURE(c.lengths[0]);
  CAPTURE(c.threads);
  PhiloxStream random(static_cast<std::uint64_t>(c.head_dim * 131 + c.group * 17 + c.lengths[0]));
  const CausalData data(c, random);
  const GuardedRows<float> expected = run_forward(kernels::reference_table(), data, 1);
  const Gradients gradients = run_backward(kernels::reference_table(), data, 1);
  on_every_table("causal_attention", [&](const KernelTable& table) {
    check_near(run_forward(table, data, c.threads), expected, 1e-5);  // |v| < 1
  });
  on_every_table("causal_attention_backward", [&](const KernelTable& table) {
    const Gradients out = run_backward(table, data, c.threads);
    check_near(out.dq, gradients.dq, 1e-4 * largest(gradients.dq));
    check_near(out.dk, gradients.dk, 1e-4 * largest(gradients.dk));
    check_near(out.dv, gradients.dv, 1e-4 * largest(gradients.dv));
  });
}

TEST_CASE("causal attention conforms to the reference for every head size and size of group") {
  for (const std::int64_t head_dim : {1, 2, 7, 15, 16, 17, 31, 32, 64, 80, 128}) {
    for (const std::int64_t group : {1, 2, 3, 7}) check_conformance({head_dim, 2, group, {29, 3}});
  }
}

TEST_CASE("causal attention conforms to the reference for every length around tile and block borders") {
  for (const std::int32_t length : {0, 1, 2, 11, 12, 13, 15, 16, 17, 31, 33, 47, 95, 96, 97, 101, 193}) {
    check_conformance({8, 1, 2, {length}});
    check_conformance({20, 2, 1, {length, 1, 0, length, 5}, /*shift=*/1, /*threads=*/2});
  }
}

TEST_CASE("causal attention conforms to the reference at the shapes of real models") {
  check_conformance({64, 2, 2, {150, 60, 301}, /*shift=*/0, /*threads=*/2});  // our own target
  check_conformance({64, 2, 7, {120, 33}, /*shift=*/3, /*threads=*/3});       // 0.5B
  check_conformance({128, 1, 6, {211}});                                      // 1.5B
}

TEST_CASE("causal attention without sequences does nothing") {
  PhiloxStream random(1);
  const CausalData data({16, 1, 1, {}}, random);
  on_every_table("causal_attention", [&](const KernelTable& table) {
    CHECK(run_forward(table, data, 2).guards_intact());
    CHECK(run_backward(table, data, 2).dk.guards_intact());
  });
}

TEST_CASE("causal attention gives the first row of a sequence its value exactly") {
  on_every_table("causal_attention", [](const KernelTable& table) {
    PhiloxStream random(2);
    CausalData data({19, 2, 3, {4, 40}}, random);
    const GuardedRows<float> out = run_forward(table, data, 1);
    for (const std::int64_t row : {0, 4}) {
      for (std::int64_t h = 0; h < 6; ++h) CHECK(same_bits(out.row(row) + h * 19, data.v(row) + h / 3 * 19, 19));
    }
  });
}

TEST_CASE("causal attention gives the same bits on any number of threads") {
  for (const KernelTable* table : kernels::cpu_tables()) {
    CAPTURE(table->name);
    PhiloxStream random(3);
    const CausalData data({32, 2, 2, {70, 1, 130, 20, 110}}, random);
    const GuardedRows<float> out = run_forward(*table, data, 1);
    const Gradients gradients = run_backward(*table, data, 1);
    for (int threads = 2; threads <= 4; ++threads) {
      CAPTURE(threads);
      check_same_bits(run_forward(*table, data, threads), out);
      const Gradients again = run_backward(*table, data, threads);
      check_same_bits(again.dq, gradients.dq);
      check_same_bits(again.dk, gradients.dk);
      check_same_bits(again.dv, gradients.dv);
    }
  }
}

TEST_CASE("causal attention gives the same bits on every table with multiply-add") {
  const auto tables = tables_with_fma();
  PhiloxStream random(4);
  const CausalData data({24, 2, 3, {103, 50}}, random);
  for (const KernelTable* table : tables) {
    CAPTURE(table->name);
    check_same_bits(run_forward(*table, data, 1), run_forward(*tables[0], data, 1));
    const Gradients first = run_backward(*tables[0], data, 1);
    const Gradients other = run_backward(*table, data, 1);
    check_same_bits(other.dq, first.dq);
    check_same_bits(other.dk, first.dk);
    check_same_bits(other.dv, first.dv);
  }
}

TEST_CASE("a sequence gets the same bits alone and beside others, whatever these hold") {
  for (const KernelTable* table : kernels::cpu_tables()) {
    CAPTURE(table->name);
    PhiloxStream random(5);
    CausalData together({16, 2, 2, {37, 101, 64}}, random);
    const CausalData alone = [&] {
      CausalData data({16, 2, 2, {101}}, random);
      for (std::int64_t i = 0; i < 101; ++i) {
        std::copy_n(together.qkv.row(37 + i), data.qkv.cols(), data.qkv.row(i));
        std::copy_n(together.dout.row(37 + i), data.dout.cols(), data.dout.row(i));
      }
      return data;
    }();
    std::fill_n(together.qkv.row(10), together.qkv.cols(), std::numeric_limits<float>::quiet_NaN());
    std::fill_n(together.qkv.row(140), together.qkv.cols(), std::numeric_limits<float>::quiet_NaN());
    check_same_bits(run_forward(*table, together, 2), run_forward(*table, alone, 1), 37);
    const Gradients some = run_backward(*table, together, 2);
    const Gradients own = run_backward(*table, alone, 1);
    check_same_bits(some.dq, own.dq, 37);
    check_same_bits(some.dk, own.dk, 37);
    check_same_bits(some.dv, own.dv, 37);
  }
}

TEST_CASE("a row of causal attention does not depend on later rows, and its gradients not on earlier outputs") {
  on_every_table("causal_attention", [](const KernelTable& table) {
    PhiloxStream random(6);
    CausalData data({16, 1, 2, {120}}, random);
    for (std::int64_t i = 0; i < 50; ++i) std::fill_n(data.dout.row(i), data.dout.cols(), 0.0f);
    const GuardedRows<float> out = run_forward(table, data, 1);
    const Gradients gradients = run_backward(table, data, 1);
    double sum = 0.0;
    for (std::int64_t i = 0; i < 50; ++i) {
      for (std::int64_t j = 0; j < 32; ++j) sum += std::abs(gradients.dq.row(i)[j]);
    }
    CHECK(sum == 0.0);
    for (std::int64_t i = 77; i < 120; ++i) fill_random(data.qkv.row(i), data.qkv.cols(), random);
    const GuardedRows<float> changed = run_forward(table, data, 1);
    std::int64_t differing = 0, equal = 0;
    for (std::int64_t i = 0; i < 77; ++i) differing += same_bits(out.row(i), changed.row(i), 32) ? 0 : 1;
    for (std::int64_t i = 77; i < 120; ++i) equal += same_bits(out.row(i), changed.row(i), 32) ? 1 : 0;
    CHECK(differing == 0);
    CHECK(equal == 0);
  });
}

TEST_CASE("causal attention stays finite for scores far apart and passes a NaN on") {
  on_every_table("causal_attention", [](const KernelTable& table) {
    PhiloxStream random(8);
    CausalData data({16, 1, 1, {90}}, random);
    data.scale = 1e4f;
    check_near(run_forward(table, data, 1), run_forward(kernels::reference_table(), data, 1), 2e-2);  // 1e4 * its error
    const Gradients gradients = run_backward(table, data, 1);
    CHECK(std::isfinite(largest(gradients.dq)));
    CHECK(std::isfinite(largest(gradients.dk)));
    data.q(40)[3] = std::numeric_limits<float>::quiet_NaN();
    const GuardedRows<float> out = run_forward(table, data, 1);
    for (std::int64_t i = 0; i < 90; ++i) CHECK(std::isnan(out.row(i)[0]) == (i == 40));
  });
}

TEST_CASE("causal attention refuses scratch memory that is too small") {
  PhiloxStream random(9);
  const CausalData data({16, 1, 1, {20}}, random);
  const CausalAttentionArgs args = data.args();
  const Buffer scratch(64);
  for (const KernelTable* table : kernels::cpu_tables()) {
    const kernels::Context context{.pool = pool_of(1), .scratch = scratch.span()};
    CHECK_THROWS_AS(table->causal_attention(context, args), Error);
    CHECK_THROWS_AS(table->causal_attention_backward(context, {.forward = args}), Error);
  }
}

}  // namespace
}  // namespace minitorch::test
