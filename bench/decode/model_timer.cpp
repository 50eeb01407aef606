// Timing passes of a loaded model.
#include "bench/decode/model_timer.h"

#include <algorithm>

#include "minitorch/base/check.h"
#include "minitorch/base/philox.h"

namespace minitorch::bench {
namespace {

constexpr std::int64_t kFillRows = 512;

// The same ids for the same count.
std::vector<std::int32_t> random_ids(std::int32_t vocabulary, std::int64_t count) {
  PhiloxStream stream(static_cast<std::uint64_t>(count));
  std::vector<std::int32_t> ids(static_cast<std::size_t>(count));
  for (std::int32_t& id : ids) id = static_cast<std::int32_t>(stream.below(static_cast<std::uint32_t>(vocabulary)));
  return ids;
}

}  // namespace

Times ModelTimer::pass(models::KVCache& cache, std::int64_t rows, std::int64_t num_wanted) {
  models::Batch batch;
  batch.caches = {&cache};
  batch.add_chain(0, random_ids(model_.vocab_size(), rows));
  outputs_.want.assign(static_cast<std::size_t>(rows), models::Want::kNone);
  std::fill_n(outputs_.want.rbegin(), num_wanted, models::Want::kArgmax);
  return time_once([&] { model_.forward(batch, outputs_); });
}

models::KVCache& ModelTimer::filled(std::int64_t context, std::int64_t more) {
  MT_CHECK(more <= kMostRows, "expected at most {} rows or steps behind a context, got {}", kMostRows, more);
  MT_CHECK(context >= 0 && context <= model_.max_context() - kMostRows, "context: expected 0 to {}, got {}",
           model_.max_context() - kMostRows, context);
  auto found = caches_.find(context);
  if (found == caches_.end()) {
    found = caches_.emplace(context, model_.make_cache(static_cast<std::int32_t>(context + kMostRows))).first;
  }
  models::KVCache& cache = found->second;
  while (cache.length() < context) {
    pass(cache, std::min(kFillRows, context - cache.length()), 1);
    cache.keep_chain();
  }
  cache.truncate(static_cast<std::int32_t>(context));
  return cache;
}

std::vector<Times> ModelTimer::decode(std::int64_t context, std::int64_t steps) {
  models::KVCache& cache = filled(context, steps);
  std::vector<Times> times;
  for (std::int64_t step = 0; step < steps; ++step) {
    times.push_back(pass(cache, 1, 1));
    cache.keep_chain();
  }
  return times;
}

std::vector<Times> ModelTimer::verify(std::int64_t context, std::int64_t rows, std::int64_t repeats) {
  models::KVCache& cache = filled(context, rows);
  std::vector<Times> times;
  for (std::int64_t repeat = 0; repeat < repeats; ++repeat) {
    times.push_back(pass(cache, rows, rows));
    cache.keep({});
  }
  return times;
}

std::vector<Times> ModelTimer::prefill(std::int64_t rows, std::int64_t repeats) {
  MT_CHECK(rows <= model_.max_context(), "prefill: expected at most {} rows, got {}", model_.max_context(), rows);
  models::KVCache cache = model_.make_cache(static_cast<std::int32_t>(rows));
  std::vector<Times> times;
  for (std::int64_t repeat = 0; repeat < repeats; ++repeat) {
    times.push_back(pass(cache, rows, 1));
    cache.keep({});
  }
  return times;
}

std::int64_t ModelTimer::cache_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& [context, cache] : caches_) bytes += cache.bytes();
  return bytes;
}

}  // namespace minitorch::bench
