// Problems for causal_attention and its backward, and how they are run and compared.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>  // std::sqrt, std::abs
#include <cstring>
#include <vector>

#include "tests/kernels/support.h"
#include "tests/kernels/table_walk.h"

namespace minitorch::test::causal {

using kernels::CausalAttentionArgs;
using kernels::CausalAttentionBackwardArgs;
using kernels::KernelTable;

struct CausalCase {
  std::int64_t head_dim;
  std::int64_t kv_heads;
  std::int64_t group;  // query heads per K/V head
  std::vector<std::int32_t> lengths;
  std::int64_t shift = 0;  // elements off alignment
  int threads = 1;

  [[nodiscard]] std::int64_t rows() const {
    std::int64_t sum = 0;
    for (const std::int32_t length : lengths) sum += length;
    return sum;
  }
  [[nodiscard]] std::int64_t q_width() const { return kv_heads * group * head_dim; }
  [[nodiscard]] std::int64_t kv_width() const { return kv_heads * head_dim; }
};

// Inputs of one problem: q, k and v are parts of one matrix, as a fused projection leaves them.
struct CausalData {
  CausalData(const CausalCase& problem, PhiloxStream& random)
      : c(problem),
        qkv(random_rows(c.rows(), c.q_width() + 2 * c.kv_width(), random, c.q_width() + 2 * c.kv_width() + 3, c.shift)),
        dout(random_rows(c.rows(), c.q_width(), random, c.q_width() + 1, c.shift)),
        begins{0},
        scale(1.0f / std::sqrt(static_cast<float>(c.head_dim))) {
    for (const std::int32_t length : c.lengths) begins.push_back(begins.back() + length);
  }
  [[nodiscard]] float* q(std::int64_t row) { return qkv.row(row); }
  [[nodiscard]] float* k(std::int64_t row) { return qkv.row(row) + c.q_width(); }
  [[nodiscard]] float* v(std::int64_t row) { return k(row) + c.kv_width(); }

  [[nodiscard]] CausalAttentionArgs args() const {
    return {.begins = begins.data(),
            .sequences = static_cast<std::int64_t>(begins.size()) - 1,
            .heads = c.kv_heads * c.group,
            .kv_heads = c.kv_heads,
            .head_dim = c.head_dim,
            .scale = scale,
            .q = qkv.data(),
            .q_stride = qkv.stride(),
            .k = qkv.data() + c.q_width(),
            .k_stride = qkv.stride(),
            .v = qkv.data() + c.q_width() + c.kv_width(),
            .v_stride = qkv.stride()};
  }

  CausalCase c;
  GuardedRows<float> qkv, dout;
  std::vector<std::int32_t> begins;
  float scale;
};

struct Gradients {
  GuardedRows<float> dq, dk, dv;
};

// Scratch memory of exactly the stated size, with bytes behind it that stay unwritten, and full of NaN.
template <typename Run>
void with_scratch(const CausalAttentionArgs& args, int threads, const Run& run) {
  const std::size_t bytes = kernels::causal_attention_scratch_bytes(args, threads);
  const Buffer scratch(bytes + 64);
  std::memset(scratch.data(), 0xFF, bytes + 64);
  run(kernels::Context{.pool = pool_of(threads), .scratch = scratch.span().first(bytes)});
  CHECK(std::count(scratch.data() + bytes, scratch.data() + bytes + 64, std::byte{0xFF}) == 64);
}

inline GuardedRows<float> run_forward(const KernelTable& table, const CausalData& data, int threads) {
  GuardedRows<float> out(data.c.rows(), data.c.q_width(), data.c.q_width() + 5, data.c.shift);
  CausalAttentionArgs args = data.args();
  args.out = out.data();
  args.out_stride = out.stride();
  with_scratch(args, threads, [&](const kernels::Context& context) { table.causal_attention(context, args); });
  return out;
}

inline Gradients run_backward(const KernelTable& table, const CausalData& data, int threads) {
  const CausalCase& c = data.c;
  Gradients out{GuardedRows<float>(c.rows(), c.q_width(), c.q_width() + 2, c.shift),
                GuardedRows<float>(c.rows(), c.kv_width(), c.kv_width() + 3, c.shift),
                GuardedRows<float>(c.rows(), c.kv_width(), c.kv_width() + 4, c.shift)};
  const CausalAttentionBackwardArgs args{.forward = data.args(),
                                         .dout = data.dout.data(),
                                         .dout_stride = data.dout.stride(),
                                         .dq = out.dq.data(),
                                         .dq_stride = out.dq.stride(),
                                         .dk = out.dk.data(),
                                         .dk_stride = out.dk.stride(),
                                         .dv = out.dv.data(),
                                         .dv_stride = out.dv.stride()};
  with_scratch(args.forward, threads,
               [&](const kernels::Context& context) { table.causal_attention_backward(context, args); });
  return out;
}

inline double magnitude(float value) { return std::abs(static_cast<double>(value)); }

inline double largest(const GuardedRows<float>& values) {
  double result = 0.0;
  for (std::int64_t i = 0; i < values.rows(); ++i) {
    for (std::int64_t j = 0; j < values.cols(); ++j) result = std::max(result, magnitude(values.row(i)[j]));
  }
  return result;
}

inline void check_near(const GuardedRows<float>& values, const GuardedRows<float>& expected, double tolerance) {
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < values.rows(); ++i) {
    for (std::int64_t j = 0; j < values.cols(); ++j) {
      wrong += near(values.row(i)[j], expected.row(i)[j], tolerance) ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
  CHECK(values.guards_intact());
}

// Rows [first, first + expected.rows()) of `values` against `expected`.
inline void check_same_bits(const GuardedRows<float>& values, const GuardedRows<float>& expected,
                            std::int64_t first = 0) {
  std::int64_t differing = 0;
  for (std::int64_t i = 0; i < expected.rows(); ++i) {
    differing += same_bits(values.row(first + i), expected.row(i), expected.cols()) ? 0 : 1;
  }
  CHECK(differing == 0);
}

}  // namespace minitorch::test::causal
