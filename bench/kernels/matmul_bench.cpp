// matmul at the shapes of a training step of 4096 tokens, to be judged by the multiply-adds of the same run.
//   bench_kernels --benchmark_filter='limit_fma|matmul'
#include "bench/kernels/support.h"

namespace minitorch::bench {
namespace {

// Which operand lies transposed in memory.
enum class Transposed { kNone, kA, kB };

// Arguments: rows M, columns N, inner size K.
void matmul(benchmark::State& state, Transposed transposed) {
  const std::int64_t rows = state.range(0);
  const std::int64_t cols = state.range(1);
  const std::int64_t inner = state.range(2);
  const std::vector<float> a = random_floats(rows * inner, 1);
  const std::vector<float> b = random_floats(inner * cols, 2);
  std::vector<float> c(rows * cols);
  const bool a_transposed = transposed == Transposed::kA;
  const bool b_transposed = transposed == Transposed::kB;
  const kernels::MatmulArgs args{.rows = rows,
                                 .cols = cols,
                                 .inner = inner,
                                 .a = a.data(),
                                 .a_row = a_transposed ? 1 : inner,
                                 .a_col = a_transposed ? rows : 1,
                                 .b = b.data(),
                                 .b_row = b_transposed ? 1 : cols,
                                 .b_col = b_transposed ? inner : 1,
                                 .c = c.data(),
                                 .c_row = cols};
  const kernels::KernelTable& table = kernels::best_cpu_table();
  const Buffer scratch(kernels::matmul_scratch_bytes(args, pool().size()));
  const kernels::Context context{.pool = pool(), .scratch = scratch.span()};
  for (auto _ : state) {
    table.matmul(context, args);
    benchmark::ClobberMemory();
  }
  set_rates(state, 4.0 * static_cast<double>(rows * inner + inner * cols + rows * cols),
            2.0 * static_cast<double>(rows * cols * inner));
  state.SetLabel(std::string(table.name) + " x" + std::to_string(pool().size()));
}

void shapes(benchmark::internal::Benchmark* bench, std::initializer_list<std::vector<std::int64_t>> list) {
  for (const std::vector<std::int64_t>& shape : list) bench->Args(shape);
  for (const std::int64_t size : {16, 64, 100, 256}) bench->Args({size, size, size});
  bench->ArgNames({"M", "N", "K"})->UseRealTime()->Unit(benchmark::kMicrosecond);
}

// y = x W^T, with W [N, K] as the model holds it.
void forward(benchmark::internal::Benchmark* bench) {
  shapes(bench, {{4096, 256, 256},
                 {4096, 512, 256},
                 {4096, 1408, 256},
                 {4096, 2048, 256},
                 {4096, 256, 704},
                 {4096, 1024, 1024},
                 {1, 1024, 1024},
                 {8, 1024, 1024}});
}
// dx = dy W.
void input_gradient(benchmark::internal::Benchmark* bench) {
  shapes(bench, {{4096, 256, 256}, {4096, 256, 768}, {4096, 256, 1408}, {4096, 256, 2048}, {4096, 704, 256}});
}
// dW = dy^T x.
void weight_gradient(benchmark::internal::Benchmark* bench) {
  shapes(bench, {{256, 256, 4096}, {512, 256, 4096}, {1408, 256, 4096}, {2048, 256, 4096}, {256, 704, 4096}});
}

BENCHMARK_CAPTURE(matmul, forward, Transposed::kB)->Apply(forward);
BENCHMARK_CAPTURE(matmul, input_gradient, Transposed::kNone)->Apply(input_gradient);
BENCHMARK_CAPTURE(matmul, weight_gradient, Transposed::kA)->Apply(weight_gradient);

}  // namespace
}  // namespace minitorch::bench
