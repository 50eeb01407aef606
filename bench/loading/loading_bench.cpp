// Loading a model folder up to its first token, against reading its weight files into memory and nothing more.
//   MINITORCH_MODEL=FOLDER bench_loading
// Each of 7 repetitions reads the bytes into a fresh arena and then loads; the files are in the page cache, which the
// first read sees to. Counters: read_s and load_s, limit_s = 1.3 * read_s + 0.4, the largest resident size while
// loading, and its limit, 1.05 * (weights + cache pages) + 150 MB.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>  // std::clock
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "minitorch/base/error.h"
#include "minitorch/base/memory.h"
#include "minitorch/io/file.h"
#include "models/checkpoint.h"
#include "models/load.h"

namespace minitorch {
namespace {

struct Seconds {
  double wall = 0.0;
  double cpu = 0.0;  // of all threads: says more where other processes want the cores
};

Seconds seconds_of(const std::function<void()>& work) {
  const std::clock_t cpu_start = std::clock();
  const auto start = std::chrono::steady_clock::now();
  work();
  return {.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
          .cpu = static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC};
}

// All bytes of the weight files into a fresh arena, shared among all threads; returns their number.
std::uint64_t read_weight_files(const std::filesystem::path& folder) {
  constexpr std::size_t kShare = std::size_t{8} << 20;
  std::uint64_t total = 0;
  const models::Checkpoint checkpoint(folder);
  for (const io::SafetensorsFile& weights : checkpoint.files()) {
    const io::InputFile file(weights.path());
    const auto size = static_cast<std::size_t>(file.regular_size());
    const Buffer arena(size);
    std::atomic<std::size_t> next{0};
    default_runtime().threads->run([&](int, int) {
      for (std::size_t begin = next.fetch_add(kShare); begin < size; begin = next.fetch_add(kShare)) {
        file.read_at(begin, arena.span().subspan(begin, std::min(kShare, size - begin)));
      }
    });
    total += size;
  }
  return total;
}

// Bytes, of a line "name:   1234 kB" of what the system says about this process.
double memory_figure(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":")) return 1024.0 * std::strtod(line.c_str() + name.size() + 1, nullptr);
  }
  return 0.0;
}

void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }  // the largest resident size begins anew

struct FirstToken {
  double weights_bytes = 0.0;
  double cache_bytes = 0.0;
};

FirstToken load_to_first_token(const std::filesystem::path& folder) {
  const models::LoadedModel loaded = models::load_model(folder, default_runtime());
  models::KVCache cache = loaded.model->make_cache(64);
  models::Batch batch;
  batch.caches = {&cache};
  batch.add(0, 1, models::KVCache::kRoot);
  models::Outputs outputs;
  outputs.want = {models::Want::kArgmax};
  loaded.model->forward(batch, outputs);
  benchmark::DoNotOptimize(outputs.argmax.data());
  return {static_cast<double>(models::weight_bytes(*loaded.model)), static_cast<double>(cache.bytes())};
}

void load_model(benchmark::State& state) {
  const char* folder = std::getenv("MINITORCH_MODEL");
  if (folder == nullptr || *folder == '\0') {
    state.SkipWithError("MINITORCH_MODEL names no model folder");
    return;
  }
  try {
    for (auto _ : state) {
      std::uint64_t bytes = 0;
      const Seconds read = seconds_of([&] { bytes = read_weight_files(folder); });
      forget_peak();
      FirstToken memory;
      const Seconds load = seconds_of([&] { memory = load_to_first_token(folder); });
      state.SetIterationTime(load.wall);
      state.counters["bytes"] = static_cast<double>(bytes);
      state.counters["read_s"] = read.wall;
      state.counters["read_cpu_s"] = read.cpu;
      state.counters["load_s"] = load.wall;
      state.counters["load_cpu_s"] = load.cpu;
      state.counters["limit_s"] = 1.3 * read.wall + 0.4;
      state.counters["peak_MB"] = memory_figure("VmHWM") / 1e6;
      state.counters["peak_limit_MB"] = 1.05 * (memory.weights_bytes + memory.cache_bytes) / 1e6 + 150.0;
    }
  } catch (const Error& error) {
    state.SkipWithError(error.what());
  }
}
BENCHMARK(load_model)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(1)->Repetitions(7);

}  // namespace
}  // namespace minitorch
