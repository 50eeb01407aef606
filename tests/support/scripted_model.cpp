// ScriptedModel: forward over any batch of trees, from prefixes read out of the caches.
#include "tests/support/scripted_model.h"

#include <algorithm>
#include <cmath>  // std::isnan
#include <limits>
#include <numeric>
#include <utility>

#include "minitorch/base/check.h"
#include "minitorch/base/philox.h"

namespace minitorch::test {
namespace {

using models::KVCache;
using models::Want;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<std::int32_t> prefix_of(const KVCache& cache, std::int32_t pending_index) {
  const auto committed = cache.tokens().first(static_cast<std::size_t>(cache.length()));
  std::vector<std::int32_t> prefix(committed.begin(), committed.end());
  const std::vector<std::int32_t> path = cache.path_tokens(pending_index);
  prefix.insert(prefix.end(), path.begin(), path.end());
  return prefix;
}

// The largest logits first; ties by id.
void write_top_k(std::span<const float> logits, std::int32_t row, models::Outputs& outputs) {
  std::vector<std::int32_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto logit = [&](std::int32_t id) { return logits[static_cast<std::size_t>(id)]; };
  std::stable_sort(ids.begin(), ids.end(), [&](std::int32_t a, std::int32_t b) { return logit(a) > logit(b); });
  const auto first = static_cast<std::size_t>(row) * static_cast<std::size_t>(outputs.top_k);
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(outputs.top_k); ++rank) {
    outputs.top_indices[first + rank] = ids[rank];
    outputs.top_values[first + rank] = logit(ids[rank]);
  }
}

}  // namespace

ScriptedModel::ScriptedModel(std::int32_t vocab_size, std::int32_t max_context, LogitsFunction logits)
    : vocab_size_(vocab_size), max_context_(max_context), logits_(std::move(logits)) {}

ScriptedModel ScriptedModel::from_next_token(std::int32_t vocab_size, std::int32_t max_context,
                                             std::function<std::int32_t(Prefix)> next) {
  return {vocab_size, max_context, [next = std::move(next)](Prefix prefix, std::span<float> logits) {
            std::fill(logits.begin(), logits.end(), -1.0f);
            logits[static_cast<std::size_t>(next(prefix))] = 1.0f;
          }};
}

ScriptedModel ScriptedModel::from_stream(std::int32_t vocab_size, std::int32_t max_context, std::int32_t prompt_size,
                                         std::vector<std::int32_t> stream, std::int32_t filler) {
  const auto next = [prompt_size, stream = std::move(stream), filler](Prefix prefix) {
    const std::size_t at = prefix.size() - static_cast<std::size_t>(prompt_size);  // wraps inside the prompt
    return at < stream.size() ? stream[at] : filler;
  };
  return from_next_token(vocab_size, max_context, next);
}

ScriptedModel ScriptedModel::markov2(std::int32_t vocab_size, std::int32_t max_context, std::uint64_t seed) {
  PhiloxStream random(seed);
  const auto columns = static_cast<std::size_t>(vocab_size);
  std::vector<float> table(columns * columns * columns);
  // Few distinct values, so that the largest logit is often shared and ties are really decided.
  for (float& logit : table) logit = static_cast<float>(random.below(3 * static_cast<std::uint32_t>(vocab_size)));
  return {vocab_size, max_context, [columns, table = std::move(table)](Prefix prefix, std::span<float> logits) {
            const auto last = static_cast<std::size_t>(prefix.back());
            const auto before = static_cast<std::size_t>(prefix.size() > 1 ? prefix[prefix.size() - 2] : prefix.back());
            std::copy_n(table.begin() + static_cast<std::ptrdiff_t>((before * columns + last) * columns), columns,
                        logits.begin());
          }};
}

KVCache ScriptedModel::make_cache(std::int32_t capacity) const {
  return KVCache({.layers = 0, .layout = {}}, std::min(capacity, max_context_));
}

void ScriptedModel::forward(const models::Batch& batch, models::Outputs& outputs) {
  std::vector<std::int32_t> pending_index;
  try {
    append_rows(batch, pending_index);
    compute(batch, pending_index, outputs);
  } catch (...) {
    for (KVCache* cache : batch.caches) cache->keep({});
    throw;
  }
  ++num_passes_;
  num_rows_ += static_cast<std::int64_t>(batch.rows.size());
}

void ScriptedModel::append_rows(const models::Batch& batch, std::vector<std::int32_t>& pending_index) {
  for (const models::BatchRow& row : batch.rows) {
    KVCache& cache = *batch.caches.at(static_cast<std::size_t>(row.sequence));
    MT_CHECK(row.token >= 0 && row.token < vocab_size_, "forward: expected a token below {}, got {}", vocab_size_,
             row.token);
    const std::int32_t parent =
        row.parent == KVCache::kRoot ? KVCache::kRoot : pending_index.at(static_cast<std::size_t>(row.parent));
    pending_index.push_back(cache.append(row.token, parent));
    const std::int32_t position = cache.position_of(pending_index.back());
    MT_CHECK(row.position == position && position < max_context_, "forward: expected position {} below {}, got {}",
             position, max_context_, row.position);
  }
}

void ScriptedModel::compute(const models::Batch& batch, std::span<const std::int32_t> pending_index,
                            models::Outputs& outputs) {
  const std::size_t rows = batch.rows.size();
  outputs.argmax.assign(rows, -1);
  outputs.logits_row.assign(rows, -1);
  outputs.top_values.assign(rows * static_cast<std::size_t>(outputs.top_k), 0.0f);
  outputs.top_indices.assign(rows * static_cast<std::size_t>(outputs.top_k), -1);
  std::vector<float> all_logits;
  std::vector<float> logits(static_cast<std::size_t>(vocab_size_));
  std::int32_t logits_rows = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const Want want = row < outputs.want.size() ? outputs.want[row] : Want::kNone;
    if (want == Want::kNone) continue;
    const KVCache& cache = *batch.caches[static_cast<std::size_t>(batch.rows[row].sequence)];
    logits_behind(prefix_of(cache, pending_index[row]), logits);
    if (want == Want::kTopK) {
      write_top_k(logits, static_cast<std::int32_t>(row), outputs);
      continue;
    }
    outputs.argmax[row] = static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    if (want != Want::kLogits) continue;
    outputs.logits_row[row] = logits_rows++;
    all_logits.insert(all_logits.end(), logits.begin(), logits.end());
  }
  outputs.logits = Tensor::from(all_logits, {logits_rows, vocab_size_});
}

void ScriptedModel::logits_behind(Prefix prefix, std::span<float> logits) const {
  logits_(prefix, logits);
  if (std::equal(prefix.begin(), prefix.end(), nan_prefix_.begin(), nan_prefix_.end())) logits[0] = kNan;
  const auto is_nan = [](float logit) { return std::isnan(logit); };
  MT_CHECK(std::none_of(logits.begin(), logits.end(), is_nan), "forward: NaN logits behind position {}",
           prefix.size() - 1);
  const models::ValidIds& valid = valid_ids();
  for (std::int32_t id = 0; id < vocab_size_; ++id) {
    const bool hole = std::binary_search(valid.holes.begin(), valid.holes.end(), id);
    if (id >= valid.limit || hole) logits[static_cast<std::size_t>(id)] = -std::numeric_limits<float>::infinity();
  }
}

}  // namespace minitorch::test
