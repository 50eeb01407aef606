// causal_attention and its backward over 4096 tokens in sequences of 50 to 300, at the shape of the embedded target.
//   bench_kernels --benchmark_filter='limit_fma|causal'
#include "bench/kernels/support.h"

namespace minitorch::bench {
namespace {

constexpr std::int64_t kTokens = 4096;
constexpr std::int64_t kHeads = 4;
constexpr std::int64_t kKvHeads = 2;
constexpr std::int64_t kHeadDim = 64;

struct Problem {
  // Sequences of `length` tokens, or of 50 to 300 when it is 0.
  explicit Problem(std::int64_t length) {
    PhiloxStream random(3);
    begins.push_back(0);
    while (begins.back() < kTokens) {
      const std::int64_t next = length > 0 ? length : 50 + static_cast<std::int64_t>(random.below(251));
      const std::int64_t tokens = std::min(next, kTokens - begins.back());
      begins.push_back(begins.back() + static_cast<std::int32_t>(tokens));
      pairs += static_cast<double>(tokens * (tokens + 1) / 2);
    }
    args = {.begins = begins.data(),
            .sequences = static_cast<std::int64_t>(begins.size()) - 1,
            .heads = kHeads,
            .kv_heads = kKvHeads,
            .head_dim = kHeadDim,
            .scale = 0.125f,
            .q = qkv.data(),
            .q_stride = kWidth,
            .k = qkv.data() + kHeads * kHeadDim,
            .k_stride = kWidth,
            .v = qkv.data() + (kHeads + kKvHeads) * kHeadDim,
            .v_stride = kWidth,
            .out = out.data(),
            .out_stride = kHeads * kHeadDim};
    scratch = Buffer(kernels::causal_attention_scratch_bytes(args, pool().size()));
  }

  static constexpr std::int64_t kWidth = (kHeads + 2 * kKvHeads) * kHeadDim;
  std::vector<std::int32_t> begins;
  double pairs = 0.0;  // of a query and a key it sees
  std::vector<float> qkv = random_floats(kTokens * kWidth, 1);
  std::vector<float> out = std::vector<float>(kTokens * kHeads * kHeadDim);
  Buffer scratch;
  kernels::CausalAttentionArgs args;
};

void report(benchmark::State& state, const Problem& problem, double products) {
  set_rates(state, 0.0, products * 2.0 * kHeadDim * kHeads * problem.pairs);
  state.SetLabel(std::string(kernels::best_cpu_table().name) + " x" + std::to_string(pool().size()));
}

// Two products of [T, T] x 64 elements that count, q k^T and p v.
void causal_attention(benchmark::State& state) {
  const Problem problem(state.range(0));
  const kernels::Context context{.pool = pool(), .scratch = problem.scratch.span()};
  for (auto _ : state) {
    kernels::best_cpu_table().causal_attention(context, problem.args);
    benchmark::ClobberMemory();
  }
  report(state, problem, 2.0);
}

// Five of them: q k^T again, dout v^T, and those of dq, dk and dv.
void causal_attention_backward(benchmark::State& state) {
  const Problem problem(state.range(0));
  const std::vector<float> dout = random_floats(kTokens * kHeads * kHeadDim, 2);
  std::vector<float> gradient(kTokens * Problem::kWidth);
  const kernels::Context context{.pool = pool(), .scratch = problem.scratch.span()};
  for (auto _ : state) {
    kernels::best_cpu_table().causal_attention_backward(context,
                                                        {.forward = problem.args,
                                                         .dout = dout.data(),
                                                         .dout_stride = kHeads * kHeadDim,
                                                         .dq = gradient.data(),
                                                         .dq_stride = Problem::kWidth,
                                                         .dk = gradient.data() + kHeads * kHeadDim,
                                                         .dk_stride = Problem::kWidth,
                                                         .dv = gradient.data() + (kHeads + kKvHeads) * kHeadDim,
                                                         .dv_stride = Problem::kWidth});
    benchmark::ClobberMemory();
  }
  report(state, problem, 5.0);
}

void lengths(benchmark::internal::Benchmark* bench) {
  for (const std::int64_t length : {0, 32, 128, 300, 1024}) bench->Arg(length);
  bench->ArgName("T")->UseRealTime()->Unit(benchmark::kMicrosecond);
}
BENCHMARK(causal_attention)->Apply(lengths);
BENCHMARK(causal_attention_backward)->Apply(lengths);

}  // namespace
}  // namespace minitorch::bench
