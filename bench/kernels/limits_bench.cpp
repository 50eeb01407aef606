// What the machine can do, to judge the kernels by: the rate of reading memory and of multiply-adds in registers.
//   bench_kernels --benchmark_filter=limit
#include "bench/common/limits.h"

#include <algorithm>

#include "bench/kernels/support.h"

namespace minitorch::bench {
namespace {

void limit_memory_read(benchmark::State& state) {
  const Buffer memory = touched_memory(std::size_t{1} << 30);
  for (auto _ : state) benchmark::DoNotOptimize(read_memory(pool(), memory.span()));
  set_rates(state, static_cast<double>(memory.size()), 0.0);
}
BENCHMARK(limit_memory_read)->UseRealTime()->Unit(benchmark::kMillisecond);

void limit_registers(benchmark::State& state, const RegisterLoop& loop) {
  constexpr std::int64_t kRounds = 1 << 20;
  for (auto _ : state) {
    pool().run([&](int, int) { loop.run(kRounds); });
  }
  set_rates(state, 0.0, loop.operations_per_round * static_cast<double>(kRounds) * pool().size());
}

// Named limit_fma_f32_avx512 and the like, for what this machine has.
const bool kRegistered = [] {
  for (const RegisterLoop& loop : register_loops()) {
    std::string name = "limit_" + loop.name;
    std::replace(name.begin(), name.end(), ' ', '_');
    benchmark::RegisterBenchmark(name.c_str(), [loop](benchmark::State& state) { limit_registers(state, loop); })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace minitorch::bench
