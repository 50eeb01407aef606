// Timing passes over a loaded model.
#include "examples/inspect_model/timing.h"

#include <sys/resource.h>  // getrusage

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "minitorch/base/check.h"
#include "minitorch/base/philox.h"

namespace minitorch::inspect_model {
namespace {

using Clock = std::chrono::steady_clock;
using models::Batch;
using models::CausalLM;
using models::KVCache;
using models::Outputs;
using models::Want;

constexpr int kRows[] = {1, 2, 4, 8, 16};
constexpr int kRepeats = 9;
constexpr std::int32_t kContext = 32;
constexpr std::int32_t kPrefillRows = 256;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::vector<std::int32_t> random_ids(const CausalLM& model, std::int32_t count) {
  PhiloxStream stream(1);
  std::vector<std::int32_t> ids;
  for (std::int32_t i = 0; i < count; ++i) {
    ids.push_back(static_cast<std::int32_t>(stream.below(static_cast<std::uint32_t>(model.vocab_size()))));
  }
  return ids;
}

// Milliseconds of a pass over a chain of random ids whose last `num_wanted` rows want their argmax.
double time_pass(CausalLM& model, KVCache& cache, Outputs& outputs, std::int32_t rows, std::int32_t num_wanted) {
  Batch batch;
  batch.caches = {&cache};
  batch.add_chain(0, random_ids(model, rows));
  outputs.want.assign(static_cast<std::size_t>(rows), Want::kNone);
  std::fill_n(outputs.want.rbegin(), num_wanted, Want::kArgmax);
  const auto start = Clock::now();
  model.forward(batch, outputs);
  return ms_since(start);
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

std::int64_t peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;  // Linux counts in KiB
}

// The row counts take turns, so that a disturbance of the machine meets them all.
void time_passes(CausalLM& model, Timing& timing) {
  KVCache cache = model.make_cache(kContext + 16);
  Outputs outputs;
  time_pass(model, cache, outputs, timing.context, 1);
  cache.keep_chain();
  std::vector<double> times[std::size(kRows)];
  for (int repeat = -1; repeat < kRepeats; ++repeat) {  // the first round warms up
    for (std::size_t i = 0; i < std::size(kRows); ++i) {
      const double ms = time_pass(model, cache, outputs, kRows[i], kRows[i]);
      cache.keep({});
      if (repeat >= 0) times[i].push_back(ms);
    }
  }
  for (std::size_t i = 0; i < std::size(kRows); ++i) {
    timing.passes.push_back({.rows = kRows[i],
                             .median_ms = median(times[i]),
                             .min_ms = *std::min_element(times[i].begin(), times[i].end())});
  }
}

void time_prefill(CausalLM& model, Timing& timing) {
  KVCache cache = model.make_cache(timing.prefill_rows);
  Outputs outputs;
  std::vector<double> times;
  for (int repeat = -1; repeat < 3; ++repeat) {
    const double ms = time_pass(model, cache, outputs, timing.prefill_rows, 1);
    cache.keep({});
    if (repeat >= 0) times.push_back(ms);
  }
  timing.prefill_ms = median(times);
  timing.cache_bytes = cache.bytes();
}

}  // namespace

Timing measure(CausalLM& model, double load_s) {
  MT_CHECK(model.max_context() >= kContext, "--time: expected a context of at least {} tokens, got {}", kContext,
           model.max_context());
  Timing timing;
  timing.load_s = load_s;
  timing.context = std::min(kContext, model.max_context() - *std::max_element(std::begin(kRows), std::end(kRows)));
  timing.prefill_rows = std::min(kPrefillRows, model.max_context());
  time_passes(model, timing);
  time_prefill(model, timing);
  timing.peak_bytes = peak_resident_bytes();
  return timing;
}

void print(const Timing& timing) {
  fmt::print("load          {:.2f} s\n", timing.load_s);
  const double one = timing.passes.front().median_ms;
  for (const PassTime& pass : timing.passes) {
    fmt::print("{:<14}{:.2f} ms (minimum {:.2f}), {:.2f} x one row\n", fmt::format("{} rows", pass.rows),
               pass.median_ms, pass.min_ms, pass.median_ms / one);
  }
  fmt::print("prefill       {:.1f} ms for {} rows, {:.3f} of as many single steps\n", timing.prefill_ms,
             timing.prefill_rows, timing.prefill_ms / (one * timing.prefill_rows));
  fmt::print("peak memory   {:.1f} MB, of which {:.1f} MB cache pages\n", static_cast<double>(timing.peak_bytes) / 1e6,
             static_cast<double>(timing.cache_bytes) / 1e6);
}

nlohmann::ordered_json to_json(const Timing& timing) {
  nlohmann::ordered_json passes = nlohmann::ordered_json::array();
  for (const PassTime& pass : timing.passes) {
    passes.push_back({{"rows", pass.rows}, {"median_ms", pass.median_ms}, {"min_ms", pass.min_ms}});
  }
  return {{"load_s", timing.load_s},         {"context", timing.context},
          {"passes", std::move(passes)},     {"prefill_rows", timing.prefill_rows},
          {"prefill_ms", timing.prefill_ms}, {"cache_bytes", timing.cache_bytes},
          {"peak_bytes", timing.peak_bytes}};
}

}  // namespace minitorch::inspect_model
