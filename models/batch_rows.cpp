// BatchRows: checking a batch and appending its rows, all or nothing.
#include "models/batch_rows.h"

#include <algorithm>

#include "minitorch/base/check.h"

namespace minitorch::models {
namespace {

bool same_shape(const CacheShape& a, const CacheShape& b) {
  return a.layers == b.layers && a.layout.dtype == b.layout.dtype && a.layout.kv_heads == b.layout.kv_heads &&
         a.layout.head_dim == b.layout.head_dim;
}

void check_caches(const Batch& batch, const BatchLimits& limits) {
  for (std::size_t i = 0; i < batch.caches.size(); ++i) {
    const KVCache* cache = batch.caches[i];
    MT_CHECK(cache != nullptr, "forward: the cache of sequence {} is null", i);
    MT_CHECK(same_shape(cache->shape(), limits.cache_shape),
             "forward: the cache of sequence {} was made for another model", i);
    MT_CHECK(cache->num_pending() == 0,
             "forward: the cache of sequence {} holds {} pending rows that were neither kept nor dropped", i,
             cache->num_pending());
    const bool again = std::find(batch.caches.begin(), batch.caches.begin() + static_cast<std::ptrdiff_t>(i), cache) !=
                       batch.caches.begin() + static_cast<std::ptrdiff_t>(i);
    MT_CHECK(!again, "forward: the cache of sequence {} serves another sequence too", i);
  }
}

}  // namespace

void BatchRows::append(const Batch& batch, const BatchLimits& limits) {
  check_caches(batch, limits);
  pending_.clear();
  tokens_.clear();
  positions_.clear();
  slots_.clear();
  attention_rows_.clear();
  try {
    for (std::size_t i = 0; i < batch.rows.size(); ++i) append_row(batch, i, limits);
  } catch (...) {
    drop_pending_rows(batch);
    throw;
  }
  for (std::size_t i = 0; i < batch.rows.size(); ++i) {  // only now, because appending moves the lists rows refer to
    const std::int32_t sequence = batch.rows[i].sequence;
    attention_rows_.push_back(batch.caches[static_cast<std::size_t>(sequence)]->attention_row(pending_[i], sequence));
  }
}

void BatchRows::append_row(const Batch& batch, std::size_t index, const BatchLimits& limits) {
  const BatchRow& row = batch.rows[index];
  MT_CHECK(row.sequence >= 0 && static_cast<std::size_t>(row.sequence) < batch.caches.size(),
           "forward: row {}: expected a sequence below {}, got {}", index, batch.caches.size(), row.sequence);
  MT_CHECK(row.token >= 0 && row.token < limits.vocab_size, "forward: row {}: expected a token below {}, got {}", index,
           limits.vocab_size, row.token);
  std::int32_t parent = KVCache::kRoot;
  if (row.parent != KVCache::kRoot) {
    MT_CHECK(row.parent >= 0 && static_cast<std::size_t>(row.parent) < index,
             "forward: row {}: expected a parent before it, got {}", index, row.parent);
    const std::int32_t parent_sequence = batch.rows[static_cast<std::size_t>(row.parent)].sequence;
    MT_CHECK(parent_sequence == row.sequence, "forward: row {} of sequence {} has a parent in sequence {}", index,
             row.sequence, parent_sequence);
    parent = pending_[static_cast<std::size_t>(row.parent)];
  }
  KVCache& cache = *batch.caches[static_cast<std::size_t>(row.sequence)];
  const std::int32_t pending = cache.append(row.token, parent);
  const std::int32_t position = cache.position_of(pending);
  MT_CHECK(row.position == position, "forward: row {}: expected position {} behind its parent, got {}", index, position,
           row.position);
  MT_CHECK(position < limits.max_context, "forward: row {} has position {}, but the context holds {} tokens", index,
           position, limits.max_context);
  pending_.push_back(pending);
  tokens_.push_back(row.token);
  positions_.push_back(position);
  slots_.push_back({.sequence = row.sequence, .slot = cache.slot_of(pending)});
}

void drop_pending_rows(const Batch& batch) {
  for (KVCache* cache : batch.caches) cache->keep({});
}

}  // namespace minitorch::models
