// What the kernel benchmarks share: one thread pool, a weight arena larger than the caches, random data, units.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdlib>  // std::getenv
#include <span>
#include <string>
#include <vector>

#include "kernels/kernel_table.h"
#include "minitorch/base/memory.h"
#include "minitorch/base/philox.h"
#include "minitorch/base/thread_pool.h"

namespace minitorch::bench {

// MINITORCH_BENCH_THREADS, or all cores of this process.
inline ThreadPool& pool() {
  static ThreadPool threads([] {
    const char* text = std::getenv("MINITORCH_BENCH_THREADS");
    return text != nullptr ? std::atoi(text) : default_thread_count();
  }());
  return threads;
}

// More bytes than any cache holds, so that matrices taken from it in turn come from memory. Holds bf16 values of
// magnitude 1/128 to 1; read as f32, or as f16 scales of int8, they are finite as well.
inline std::span<std::byte> weight_arena() {
  static const Buffer arena = [] {
    Buffer buffer(std::size_t{768} << 20);
    auto* words = reinterpret_cast<std::uint32_t*>(buffer.data());
    std::uint32_t state = 1;
    for (std::size_t i = 0; i < buffer.size() / 4; ++i) {
      state = state * 1664525u + 1013904223u;  // speed matters more than quality here
      words[i] = (state & 0x83FF83FFu) | 0x3C003C00u;
    }
    return buffer;
  }();
  return arena.span();
}

inline std::vector<float> random_floats(std::size_t count, std::uint64_t seed) {
  PhiloxStream random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = random.uniform() * 2.0f - 1.0f;
  return values;
}

// Reports bytes and floating-point operations per second, given what one iteration does.
inline void set_rates(benchmark::State& state, double bytes, double flops) {
  const auto rate = [&](double amount) {
    return benchmark::Counter(amount, benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000);
  };
  state.counters["bytes"] = rate(bytes);
  state.counters["flops"] = rate(flops);
}

}  // namespace minitorch::bench
