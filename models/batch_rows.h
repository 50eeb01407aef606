// BatchRows: a checked batch whose rows are pending in their caches, as the attention kernels take it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/ops/attention.h"
#include "kernels/ops/kv_cache.h"
#include "models/causal_lm.h"

namespace minitorch::models {

struct BatchLimits {
  std::int32_t vocab_size = 0;
  std::int32_t max_context = 0;
  CacheShape cache_shape;
};

// Reused from pass to pass, so that its memory is.
class BatchRows {
 public:
  // Checks the batch and appends its rows to their caches. Throws Error, with the caches as before, on a token outside
  // the vocabulary, a wrong position or parent, a full cache, a cache of another shape, one that is given twice, and
  // one that still holds pending rows.
  void append(const Batch& batch, const BatchLimits& limits);

  [[nodiscard]] std::span<const std::int32_t> tokens() const { return tokens_; }
  [[nodiscard]] std::span<const std::int32_t> positions() const { return positions_; }
  [[nodiscard]] std::span<const kernels::KvSlot> slots() const { return slots_; }
  [[nodiscard]] std::span<const kernels::AttentionRow> attention_rows() const { return attention_rows_; }

 private:
  void append_row(const Batch& batch, std::size_t index, const BatchLimits& limits);

  std::vector<std::int32_t> pending_;  // each row's index among its cache's pending rows
  std::vector<std::int32_t> tokens_;
  std::vector<std::int32_t> positions_;
  std::vector<kernels::KvSlot> slots_;
  std::vector<kernels::AttentionRow> attention_rows_;
};

// Drops the pending rows of all caches of a batch.
void drop_pending_rows(const Batch& batch);

}  // namespace minitorch::models
