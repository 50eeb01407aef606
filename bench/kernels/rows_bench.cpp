// The kernels that work row by row, at the shapes of a 1.5B model.
//   bench_kernels --benchmark_filter='rms_norm|rope|silu_mul|argmax|top_k|gather_rows|copy|pack_rows'
#include "bench/kernels/support.h"

namespace minitorch::bench {
namespace {

constexpr std::int64_t kWidth = 1536;
constexpr std::int64_t kHidden = 8960;
constexpr std::int64_t kVocabulary = 151936;

const kernels::KernelTable& table() { return kernels::best_cpu_table(); }
kernels::Context context() { return {.pool = pool()}; }

void rows_of_a_step(benchmark::internal::Benchmark* bench) {
  bench->ArgName("M")->Arg(1)->Arg(8)->Arg(256)->UseRealTime()->Unit(benchmark::kMicrosecond);
}

void rms_norm(benchmark::State& state) {
  const std::int64_t rows = state.range(0);
  const std::vector<float> x = random_floats(rows * kWidth, 1);
  const std::vector<float> weight = random_floats(kWidth, 2);
  std::vector<float> y(x.size());
  for (auto _ : state) {
    table().rms_norm(context(), {.x = x.data(),
                                 .x_stride = kWidth,
                                 .weight = weight.data(),
                                 .y = y.data(),
                                 .y_stride = kWidth,
                                 .rows = rows,
                                 .cols = kWidth,
                                 .eps = 1e-6f});
    benchmark::ClobberMemory();
  }
  set_rates(state, 8.0 * static_cast<double>(x.size()), 4.0 * static_cast<double>(x.size()));
}
BENCHMARK(rms_norm)->Apply(rows_of_a_step);

void rope(benchmark::State& state) {
  const std::int64_t rows = state.range(0);
  std::vector<float> x = random_floats(rows * kWidth, 1);
  const std::vector<float> cos(rows * 64, 0.6f);
  const std::vector<float> sin(rows * 64, 0.8f);
  for (auto _ : state) {
    table().rope(context(), {.x = x.data(),
                             .x_stride = kWidth,
                             .cos = cos.data(),
                             .sin = sin.data(),
                             .rows = rows,
                             .heads = 12,
                             .head_dim = 128});
    benchmark::ClobberMemory();
  }
  set_rates(state, 8.0 * static_cast<double>(x.size()), 3.0 * static_cast<double>(x.size()));
}
BENCHMARK(rope)->Apply(rows_of_a_step);

void silu_mul(benchmark::State& state) {
  const std::int64_t rows = state.range(0);
  const std::vector<float> gate_up = random_floats(rows * 2 * kHidden, 1);
  std::vector<float> out(rows * kHidden);
  for (auto _ : state) {
    table().silu_mul(context(), {.gate = gate_up.data(),
                                 .gate_stride = 2 * kHidden,
                                 .up = gate_up.data() + kHidden,
                                 .up_stride = 2 * kHidden,
                                 .out = out.data(),
                                 .out_stride = kHidden,
                                 .rows = rows,
                                 .cols = kHidden});
    benchmark::ClobberMemory();
  }
  set_rates(state, 12.0 * static_cast<double>(out.size()), 0.0);
}
BENCHMARK(silu_mul)->Apply(rows_of_a_step);

void argmax(benchmark::State& state) {
  const std::int64_t rows = state.range(0);
  const std::vector<float> x = random_floats(rows * kVocabulary, 1);
  std::vector<std::int32_t> out(rows);
  for (auto _ : state) {
    table().argmax(context(),
                   {.x = x.data(), .x_stride = kVocabulary, .out = out.data(), .rows = rows, .cols = kVocabulary});
    benchmark::ClobberMemory();
  }
  set_rates(state, 4.0 * static_cast<double>(x.size()), 0.0);
}
BENCHMARK(argmax)->ArgName("M")->Arg(1)->Arg(8)->UseRealTime()->Unit(benchmark::kMicrosecond);

void top_k(benchmark::State& state) {
  const std::int64_t rows = state.range(0);
  const std::int64_t k = state.range(1);
  const std::vector<float> x = random_floats(rows * kVocabulary, 1);
  std::vector<float> values(rows * k);
  std::vector<std::int32_t> indices(rows * k);
  for (auto _ : state) {
    table().top_k(context(), {.x = x.data(),
                              .x_stride = kVocabulary,
                              .rows = rows,
                              .cols = kVocabulary,
                              .k = k,
                              .values = values.data(),
                              .indices = indices.data()});
    benchmark::ClobberMemory();
  }
  set_rates(state, 4.0 * static_cast<double>(x.size()), 0.0);
}
BENCHMARK(top_k)
    ->ArgNames({"M", "k"})
    ->ArgsProduct({{1, 8}, {1, 16, 256}})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

void gather_rows(benchmark::State& state) {
  const std::int64_t rows = state.range(0);
  const kernels::PackedView embedding{kernels::PackedFormat::kBF16, kVocabulary, kWidth, weight_arena().data()};
  std::vector<std::int32_t> ids(rows);
  std::vector<float> out(rows * kWidth);
  PhiloxStream random(1);
  for (auto _ : state) {
    for (std::int32_t& id : ids) id = static_cast<std::int32_t>(random.below(kVocabulary));
    table().gather_rows(context(),
                        {.table = embedding, .ids = ids.data(), .rows = rows, .out = out.data(), .out_stride = kWidth});
    benchmark::ClobberMemory();
  }
  set_rates(state, 4.0 * static_cast<double>(out.size()), 0.0);
}
BENCHMARK(gather_rows)->Apply(rows_of_a_step);

void copy(benchmark::State& state, DType from, DType to, bool transposed) {
  constexpr std::int64_t kSide = 2048;
  const Buffer destination(kSide * kSide * size_of(to));
  const std::int64_t step = transposed ? kSide : 1;
  for (auto _ : state) {
    table().copy(context(), {.dims = 2,
                             .shape = {kSide, kSide},
                             .source = weight_arena().data(),
                             .source_dtype = from,
                             .source_strides = {transposed ? 1 : kSide, step},
                             .destination = destination.data(),
                             .destination_dtype = to,
                             .destination_strides = {kSide, 1}});
    benchmark::ClobberMemory();
  }
  set_rates(state, static_cast<double>(kSide * kSide) * static_cast<double>(size_of(from) + size_of(to)), 0.0);
}
BENCHMARK_CAPTURE(copy, f32, DType::kF32, DType::kF32, false)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(copy, f32_transposed, DType::kF32, DType::kF32, true)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(copy, f32_to_bf16, DType::kF32, DType::kBF16, false)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(copy, bf16_to_f32, DType::kBF16, DType::kF32, false)->UseRealTime()->Unit(benchmark::kMicrosecond);

// Packing is what loading a model costs beyond reading it. One thread.
void pack_rows(benchmark::State& state, kernels::PackedFormat format, DType source) {
  constexpr std::int64_t kRows = 2048;
  const Buffer panels(static_cast<std::size_t>(kernels::packed_bytes(format, kRows, kWidth)));
  const kernels::PackedView view{format, kRows, kWidth, panels.data()};
  for (auto _ : state) {
    kernels::pack_rows(view, 0, kRows, weight_arena().data(), source);
    benchmark::ClobberMemory();
  }
  set_rates(state, static_cast<double>(kRows * kWidth) * static_cast<double>(size_of(source)), 0.0);
}
BENCHMARK_CAPTURE(pack_rows, bf16_as_bf16, kernels::PackedFormat::kBF16, DType::kBF16)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(pack_rows, f32_as_bf16, kernels::PackedFormat::kBF16, DType::kF32)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(pack_rows, f32_as_f32, kernels::PackedFormat::kF32, DType::kF32)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(pack_rows, bf16_as_int8, kernels::PackedFormat::kInt8, DType::kBF16)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(pack_rows, f32_as_int8, kernels::PackedFormat::kInt8, DType::kF32)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace minitorch::bench
