// linear at the shapes of a 1.5B model, with weights that come from memory.
//   bench_kernels --benchmark_filter=linear
#include "bench/kernels/support.h"

namespace minitorch::bench {
namespace {

using kernels::PackedFormat;

// Arguments: rows M, outputs N, inputs K.
void linear(benchmark::State& state, PackedFormat format) {
  const std::int64_t rows = state.range(0);
  const std::int64_t outputs = state.range(1);
  const std::int64_t inputs = state.range(2);
  const std::vector<float> x = random_floats(rows * inputs, 1);
  std::vector<float> y(rows * outputs);
  const std::int64_t bytes = kernels::packed_bytes(format, outputs, inputs);
  const auto matrices = static_cast<std::int64_t>(weight_arena().size()) / bytes;
  const kernels::KernelTable& table = kernels::best_cpu_table();
  kernels::LinearArgs args{.x = x.data(),
                           .x_stride = inputs,
                           .rows = rows,
                           .weight = {format, outputs, inputs},
                           .y = y.data(),
                           .y_stride = outputs};
  const Buffer scratch(kernels::linear_scratch_bytes(args, pool().size()));
  const kernels::Context context{.pool = pool(), .scratch = scratch.span()};
  std::int64_t matrix = 0;
  for (auto _ : state) {
    args.weight.panels = weight_arena().data() + matrix * bytes;
    matrix = (matrix + 1) % matrices;
    table.linear(context, args);
    benchmark::ClobberMemory();
  }
  set_rates(state, static_cast<double>(bytes), 2.0 * static_cast<double>(rows * outputs * inputs));
  state.SetLabel(std::string(table.name) + " x" + std::to_string(pool().size()));
}

void shapes(benchmark::internal::Benchmark* bench) {
  constexpr std::int64_t kShapes[][2] = {{17920, 1536}, {8960, 1536}, {1536, 8960},
                                         {2048, 1536},  {1536, 1536}, {151936, 1536}};
  for (const auto& [outputs, inputs] : kShapes) {
    for (const std::int64_t rows :
         {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 24, 32, 64, 96, 97, 128, 256}) {
      bench->Args({rows, outputs, inputs});
    }
  }
  bench->ArgNames({"M", "N", "K"})->UseRealTime()->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(linear, bf16, PackedFormat::kBF16)->Apply(shapes);
BENCHMARK_CAPTURE(linear, int8, PackedFormat::kInt8)->Apply(shapes);
BENCHMARK_CAPTURE(linear, f32, PackedFormat::kF32)->Apply(shapes);

}  // namespace
}  // namespace minitorch::bench
