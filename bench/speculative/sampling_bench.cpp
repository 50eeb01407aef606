// What sampling costs for one row of a large vocabulary. To be compared with a target pass: 130 ms for the shapes of a
// 1.5B model, on 2 cores of an AVX-512 server (2026-11-30).
//   bench_speculative --benchmark_filter=sampling
#include <benchmark/benchmark.h>

#include <cmath>  // std::log, std::cos, std::sqrt
#include <vector>

#include "minitorch/base/philox.h"
#include "speculative/chooser_philox.h"

namespace minitorch::bench {
namespace {

constexpr std::size_t kVocabulary = 151936;

// Normal logits with three that stand out, as behind a word that is nearly certain.
std::vector<float> logits() {
  constexpr float kTwoPi = 6.2831853f;
  PhiloxStream random(1);
  std::vector<float> row(kVocabulary);
  for (float& logit : row) {
    const float radius = std::sqrt(-2.0f * std::log(1.0f - random.uniform()));
    logit = 2.5f * radius * std::cos(kTwoPi * random.uniform());
  }
  row[5] = 14.0f;
  row[77] = 13.5f;
  row[1000] = 12.0f;
  return row;
}

// Plain sampling of one token: the distribution, then the draw.
void sampling(benchmark::State& state, const spec::SamplingOptions& options) {
  const std::vector<float> row = logits();
  spec::PhiloxChooser chooser(1);
  spec::Distribution distribution;
  std::int64_t position = 0;
  for (auto _ : state) {
    spec::distribution(row, options, distribution);
    benchmark::DoNotOptimize(chooser.sample(position++, distribution.tokens));
  }
  state.counters["kept"] = static_cast<double>(distribution.tokens.size());
}
BENCHMARK_CAPTURE(sampling, greedy, {.temperature = 0.0})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sampling, temperature_1, {.temperature = 1.0})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sampling, r1_defaults, {.temperature = 0.6, .top_p = 0.95})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sampling, wide_nucleus, {.temperature = 1.0, .top_p = 0.95})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sampling, top_k_50, {.temperature = 1.0, .top_k = 50})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace minitorch::bench
