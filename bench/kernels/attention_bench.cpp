// attention over a filled cache, and the kernels that write and move its rows, at the shapes of a 1.5B model.
//   bench_kernels --benchmark_filter='attention|kv_'
#include <numeric>  // std::iota

#include "bench/kernels/support.h"

namespace minitorch::bench {
namespace {

constexpr std::int64_t kHeads = 12;
constexpr std::int64_t kKvHeads = 2;
constexpr std::int64_t kHeadDim = 128;

// Layers of one sequence with all pages in use; a benchmark visits one layer after the other, as a forward pass does.
class Cache {
 public:
  Cache(DType dtype, std::int64_t slots, std::int64_t layers) : layout_{dtype, kKvHeads, kHeadDim}, layers_(layers) {
    const std::int64_t pages = (slots + kernels::kPageSlots - 1) / kernels::kPageSlots;
    const std::int64_t page_bytes = kernels::kv_layer_bytes(layout_) * layers;
    memory_ = Buffer(static_cast<std::size_t>(pages * page_bytes));
    std::copy_n(weight_arena().begin(), memory_.size(), memory_.data());
    for (std::int64_t p = 0; p < pages; ++p) pages_.push_back(memory_.data() + p * page_bytes);
  }
  [[nodiscard]] const kernels::KvLayout& layout() const { return layout_; }
  [[nodiscard]] kernels::KvPages next_layer() {
    layer_ = (layer_ + 1) % layers_;
    return {pages_.data(), layer_ * kernels::kv_layer_bytes(layout_)};
  }
  [[nodiscard]] std::byte* const* pages() const { return pages_.data(); }

 private:
  kernels::KvLayout layout_;
  std::int64_t layers_;
  std::int64_t layer_ = 0;
  Buffer memory_;
  std::vector<std::byte*> pages_;
};

// Arguments: rows M, keys of the last row, positions of a row that come one by one (a draft tree).
void attention(benchmark::State& state, DType dtype) {
  const std::int64_t rows = state.range(0);
  const auto keys = static_cast<std::int32_t>(state.range(1));
  const auto tail = static_cast<std::int32_t>(state.range(2));
  Cache cache(dtype, keys, 28);
  const std::vector<float> q = random_floats(rows * kHeads * kHeadDim, 1);
  std::vector<float> out(q.size());
  std::vector<std::int32_t> slots(static_cast<std::size_t>(keys));
  std::iota(slots.begin(), slots.end(), 0);
  std::vector<kernels::AttentionRow> row;
  double visited = 0.0;
  for (std::int64_t m = 0; m < rows; ++m) {
    const auto num_keys = static_cast<std::int32_t>(tail > 0 ? keys : keys - rows + 1 + m);
    row.push_back({0, num_keys, num_keys - tail, slots.data() + (num_keys - tail)});
    visited += num_keys;
  }
  kernels::AttentionArgs args{.layout = cache.layout(),
                              .row = row.data(),
                              .q = q.data(),
                              .q_stride = kHeads * kHeadDim,
                              .out = out.data(),
                              .out_stride = kHeads * kHeadDim,
                              .rows = rows,
                              .heads = kHeads,
                              .scale = 0.088f};
  const Buffer scratch(kernels::attention_scratch_bytes(args, pool().size()));
  for (auto _ : state) {
    const kernels::KvPages sequence = cache.next_layer();
    args.sequences = &sequence;
    kernels::best_cpu_table().attention({.pool = pool(), .scratch = scratch.span()}, args);
    benchmark::ClobberMemory();
  }
  const double bytes = static_cast<double>(2 * keys * kKvHeads * kHeadDim) * static_cast<double>(size_of(dtype));
  set_rates(state, bytes, visited * 4.0 * kHeads * kHeadDim);
}

void lengths(benchmark::internal::Benchmark* bench) {
  for (const std::int64_t keys : {64, 1024, 4096}) {
    for (const std::int64_t rows : {1, 4, 8, 64}) bench->Args({rows, keys, 0});
    bench->Args({8, keys, 6});
  }
  bench->ArgNames({"M", "keys", "tail"})->UseRealTime()->Unit(benchmark::kMicrosecond);
}
BENCHMARK_CAPTURE(attention, bf16, DType::kBF16)->Apply(lengths);
BENCHMARK_CAPTURE(attention, f32, DType::kF32)->Apply(lengths);

void kv_store(benchmark::State& state, DType dtype) {
  const std::int64_t rows = state.range(0);
  Cache cache(dtype, 1024, 28);
  const std::vector<float> kv = random_floats(rows * kKvHeads * kHeadDim, 1);
  std::vector<kernels::KvSlot> slots;
  for (std::int64_t m = 0; m < rows; ++m) slots.push_back({0, static_cast<std::int32_t>(700 + m)});
  for (auto _ : state) {
    const kernels::KvPages sequence = cache.next_layer();
    kernels::best_cpu_table().kv_store({.pool = pool()}, {.layout = cache.layout(),
                                                          .sequences = &sequence,
                                                          .slots = slots.data(),
                                                          .k = kv.data(),
                                                          .k_stride = kKvHeads * kHeadDim,
                                                          .v = kv.data(),
                                                          .v_stride = kKvHeads * kHeadDim,
                                                          .rows = rows});
    benchmark::ClobberMemory();
  }
  set_rates(state, 2.0 * static_cast<double>(kv.size() * (4 + size_of(dtype))), 0.0);
}
BENCHMARK_CAPTURE(kv_store, bf16, DType::kBF16)
    ->ArgName("M")
    ->Arg(1)
    ->Arg(8)
    ->Arg(256)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(kv_store, f32, DType::kF32)
    ->ArgName("M")
    ->Arg(1)
    ->Arg(8)
    ->Arg(256)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

// A path of `count` nodes of a tree becomes contiguous, in all 28 layers.
void kv_move(benchmark::State& state, DType dtype) {
  const std::int64_t count = state.range(0);
  Cache cache(dtype, 1024, 28);
  std::vector<std::int32_t> from;
  std::vector<std::int32_t> to;
  for (std::int64_t i = 0; i < count; ++i) {
    from.push_back(static_cast<std::int32_t>(700 + 7 * i + 3));
    to.push_back(static_cast<std::int32_t>(700 + i));
  }
  for (auto _ : state) {
    kernels::best_cpu_table().kv_move({.pool = pool()}, {.layout = cache.layout(),
                                                         .pages = cache.pages(),
                                                         .layers = 28,
                                                         .from = from.data(),
                                                         .to = to.data(),
                                                         .count = count});
    benchmark::ClobberMemory();
  }
  set_rates(state, static_cast<double>(count * 28 * 4 * kKvHeads * kHeadDim) * static_cast<double>(size_of(dtype)),
            0.0);
}
BENCHMARK_CAPTURE(kv_move, bf16, DType::kBF16)
    ->ArgName("count")
    ->Arg(1)
    ->Arg(8)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace minitorch::bench
