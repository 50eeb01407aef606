// What the machine can do, to judge the kernels by: the rate of reading memory and of multiply-adds in registers.
//   bench_kernels --benchmark_filter=limit
#include "bench/kernels/support.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace minitorch::bench {
namespace {

// Reads the whole arena, each thread its part in four streams.
void limit_memory_read(benchmark::State& state) {
  const std::span<std::byte> arena = weight_arena();
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(pool().size()) * 8);
  for (auto _ : state) {
    pool().run([&](int worker, int count) {
      const std::size_t quarter = arena.size() / static_cast<std::size_t>(count) / 4 / 64 * 8;  // words of 8 bytes
      const auto* words =
          reinterpret_cast<const std::uint64_t*>(arena.data()) + static_cast<std::size_t>(worker) * quarter * 4;
      std::uint64_t sum[8] = {};
      for (std::size_t i = 0; i < quarter; i += 8) {
        for (std::size_t stream = 0; stream < 4; ++stream) {
          for (std::size_t j = 0; j < 8; ++j) sum[j] += words[stream * quarter + i + j];
        }
      }
      for (std::size_t j = 0; j < 8; ++j) sums[static_cast<std::size_t>(worker) * 8 + j] = sum[j];
    });
    benchmark::DoNotOptimize(sums.data());
  }
  set_rates(state, static_cast<double>(arena.size()), 0.0);
}
BENCHMARK(limit_memory_read)->UseRealTime()->Unit(benchmark::kMillisecond);

#if defined(__x86_64__)
// Sixteen independent chains of multiply-adds on 512-bit registers.
[[gnu::target("avx512f"), gnu::noinline]] float multiply_adds(std::int64_t count) {
  __m512 sums[16];
  for (auto& sum : sums) sum = _mm512_setzero_ps();
  const __m512 a = _mm512_set1_ps(1.0001f);
  for (std::int64_t i = 0; i < count; ++i) {
#pragma GCC unroll 16
    for (auto& sum : sums) sum = _mm512_fmadd_ps(sum, a, a);
  }
  alignas(64) float lanes[16];
  __m512 total = sums[0];
  for (int i = 1; i < 16; ++i) total = _mm512_add_ps(total, sums[i]);
  _mm512_store_ps(lanes, total);
  return lanes[0];
}

void limit_fma_512(benchmark::State& state) {
  if (!__builtin_cpu_supports("avx512f")) {
    state.SkipWithError("no AVX-512 here");
    return;
  }
  constexpr std::int64_t kCount = 1 << 20;
  for (auto _ : state) {
    pool().run([](int, int) { benchmark::DoNotOptimize(multiply_adds(kCount)); });
  }
  set_rates(state, 0.0, static_cast<double>(kCount) * 16 * 16 * 2 * pool().size());
}
BENCHMARK(limit_fma_512)->UseRealTime()->Unit(benchmark::kMillisecond);
#endif

}  // namespace
}  // namespace minitorch::bench
