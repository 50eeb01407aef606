// Reading memory, and multiply-adds in registers.
#include "bench/common/limits.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace minitorch::bench {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kStreams = 4;
// Ahead of each stream, into all caches: on a Sapphire Rapids server two threads read 27 GB/s so, 20 without, and 11
// with the prefetch that bypasses the caches (2026-11-30).
constexpr std::size_t kPrefetchBytes = 2048;

using Line [[gnu::vector_size(kLine)]] = std::uint64_t;

// Sums `lines` cache lines of each of four streams that lie `stride` bytes apart.
[[gnu::always_inline]] inline std::uint64_t sum_streams(const std::byte* begin, std::size_t stride, std::size_t lines) {
  Line sums[kStreams] = {};
  for (std::size_t line = 0; line < lines; ++line) {
#pragma GCC unroll 4
    for (std::size_t stream = 0; stream < kStreams; ++stream) {
      const std::byte* at = begin + stream * stride + line * kLine;
      __builtin_prefetch(at + kPrefetchBytes, 0, 3);  // past the end it does nothing
      sums[stream] += *reinterpret_cast<const Line*>(at);
    }
  }
  std::uint64_t total = 0;
  for (const Line& sum : sums) {
    for (std::size_t i = 0; i < kLine / sizeof(std::uint64_t); ++i) total += sum[i];
  }
  return total;
}

using SumStreams = std::uint64_t (*)(const std::byte* begin, std::size_t stride, std::size_t lines);

std::uint64_t sum_streams_baseline(const std::byte* begin, std::size_t stride, std::size_t lines) {
  return sum_streams(begin, stride, lines);
}
#if defined(__x86_64__)
[[gnu::target("avx2")]] std::uint64_t sum_streams_avx2(const std::byte* begin, std::size_t stride, std::size_t lines) {
  return sum_streams(begin, stride, lines);
}
[[gnu::target("avx512f")]] std::uint64_t sum_streams_avx512(const std::byte* begin, std::size_t stride,
                                                            std::size_t lines) {
  return sum_streams(begin, stride, lines);
}
#endif

SumStreams widest_sum_streams() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return sum_streams_avx512;
  if (__builtin_cpu_supports("avx2")) return sum_streams_avx2;
#endif
  return sum_streams_baseline;
}

#if defined(__x86_64__)

// Keeps the compiler from seeing that the chains are all alike.
#define MT_OPAQUE(vector) asm volatile("" : "+v"(vector))
// And from leaving out a result that nobody reads.
#define MT_USE(vector) asm volatile("" : : "v"(vector))

[[gnu::target("avx512f"), gnu::noinline]] void fma_avx512(std::int64_t rounds) {
  __m512 sums[16];
  for (__m512& sum : sums) {
    sum = _mm512_setzero_ps();
    MT_OPAQUE(sum);
  }
  const __m512 a = _mm512_set1_ps(0.999f);
  for (std::int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 16
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(sum, a, a);
  }
  for (const __m512& sum : sums) MT_USE(sum);
}

[[gnu::target("avx2,fma"), gnu::noinline]] void fma_avx2(std::int64_t rounds) {
  __m256 sums[12];
  for (__m256& sum : sums) {
    sum = _mm256_setzero_ps();
    MT_OPAQUE(sum);
  }
  const __m256 a = _mm256_set1_ps(0.999f);
  for (std::int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
    for (__m256& sum : sums) sum = _mm256_fmadd_ps(sum, a, a);
  }
  for (const __m256& sum : sums) MT_USE(sum);
}

[[gnu::target("avx512f,avx512vnni"), gnu::noinline]] void dot_avx512vnni(std::int64_t rounds) {
  __m512i sums[16];
  for (__m512i& sum : sums) {
    sum = _mm512_setzero_si512();
    MT_OPAQUE(sum);
  }
  __m512i a = _mm512_set1_epi8(3);
  MT_OPAQUE(a);
  for (std::int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 16
    for (__m512i& sum : sums) sum = _mm512_dpbusd_epi32(sum, a, a);
  }
  for (const __m512i& sum : sums) MT_USE(sum);
}

// Bytes to pairs of 16 bits, to quads of 32 bits: what AVX2 has instead of a dot product.
[[gnu::target("avx2"), gnu::noinline]] void dot_avx2(std::int64_t rounds) {
  __m256i sums[8];
  for (__m256i& sum : sums) {
    sum = _mm256_setzero_si256();
    MT_OPAQUE(sum);
  }
  const __m256i ones = _mm256_set1_epi16(1);
  for (std::int64_t i = 0; i < rounds; ++i) {
    __m256i a = ones;
    MT_OPAQUE(a);
#pragma GCC unroll 8
    for (__m256i& sum : sums) {
      __m256i pairs = _mm256_maddubs_epi16(a, a);
      MT_OPAQUE(pairs);
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, ones));
    }
  }
  for (const __m256i& sum : sums) MT_USE(sum);
}

[[gnu::target("avx512f,avx512bw"), gnu::noinline]] void dot_avx512bw(std::int64_t rounds) {
  __m512i sums[8];
  for (__m512i& sum : sums) {
    sum = _mm512_setzero_si512();
    MT_OPAQUE(sum);
  }
  const __m512i ones = _mm512_set1_epi16(1);
  for (std::int64_t i = 0; i < rounds; ++i) {
    __m512i a = ones;
    MT_OPAQUE(a);
#pragma GCC unroll 8
    for (__m512i& sum : sums) {
      __m512i pairs = _mm512_maddubs_epi16(a, a);
      MT_OPAQUE(pairs);
      sum = _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, ones));
    }
  }
  for (const __m512i& sum : sums) MT_USE(sum);
}

#endif

}  // namespace

Buffer touched_memory(std::size_t bytes) {
  Buffer memory(bytes);
  std::memset(memory.data(), 1, bytes);
  return memory;
}

std::uint64_t read_memory(ThreadPool& pool, std::span<const std::byte> memory) {
  const SumStreams sum = widest_sum_streams();
  std::atomic<std::uint64_t> total = 0;
  pool.run([&](int worker, int count) {
    const std::size_t stride = memory.size() / static_cast<std::size_t>(count) / kStreams / kLine * kLine;
    const std::byte* begin = memory.data() + static_cast<std::size_t>(worker) * stride * kStreams;
    total += sum(begin, stride, stride / kLine);
  });
  return total;
}

std::vector<RegisterLoop> register_loops() {
  std::vector<RegisterLoop> loops;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) loops.push_back({"fma f32 avx512", 16.0 * 16 * 2, fma_avx512});
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    loops.push_back({"fma f32 avx2", 12.0 * 8 * 2, fma_avx2});
  }
  if (__builtin_cpu_supports("avx512vnni")) loops.push_back({"dot int8 avx512vnni", 16.0 * 64 * 2, dot_avx512vnni});
  if (__builtin_cpu_supports("avx512bw")) loops.push_back({"dot int8 avx512bw", 8.0 * 64 * 2, dot_avx512bw});
  if (__builtin_cpu_supports("avx2")) loops.push_back({"dot int8 avx2", 8.0 * 32 * 2, dot_avx2});
#endif
  return loops;
}

double operations_per_second(ThreadPool& pool, const RegisterLoop& loop, std::int64_t rounds) {
  const auto start = std::chrono::steady_clock::now();
  pool.run([&](int, int) { loop.run(rounds); });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return loop.operations_per_round * static_cast<double>(rounds) * pool.size() / seconds;
}

}  // namespace minitorch::bench
