// CausalLM: the one interface between a language model and everything that generates with it.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "minitorch/core/tensor.h"
#include "models/kv_cache.h"

namespace minitorch::models {

// One token to compute. `parent` is the row of this batch that precedes it, or KVCache::kRoot when it follows the last
// committed token of its sequence's cache.
struct BatchRow {
  std::int32_t token = 0;
  std::int32_t position = 0;  // number of tokens before it on its path
  std::int32_t parent = KVCache::kRoot;
  std::int32_t sequence = 0;  // index into Batch::caches
};

// Rows of one or several sequences. Parents stand before their children.
struct Batch {
  std::vector<BatchRow> rows;
  std::vector<KVCache*> caches;

  // Appends `tokens` as a chain behind row `parent` of `sequence` (kRoot: behind its committed tokens); returns the
  // last row's index.
  std::int32_t add_chain(std::int32_t sequence, std::span<const std::int32_t> tokens,
                         std::int32_t parent = KVCache::kRoot);
  // Appends one row; returns its index.
  std::int32_t add(std::int32_t sequence, std::int32_t token, std::int32_t parent);
  void clear();
};

// What is computed of a row besides its keys and values.
enum class Want : std::uint8_t { kNone, kArgmax, kTopK, kLogits };

// Request and result of a forward pass; reuse one object so that its memory is reused.
struct Outputs {
  std::vector<Want> want;          // per row; rows beyond its end want nothing
  std::int32_t top_k = 0;          // for kTopK
  std::int32_t hidden_layer = -1;  // >= 0: also the residual stream after that layer, for every row

  std::vector<std::int32_t> argmax;       // per row that wants anything; -1 elsewhere
  std::vector<float> top_values;          // [rows, top_k]
  std::vector<std::int32_t> top_indices;  // [rows, top_k]
  Tensor logits;                          // [kLogits rows, V] f32, in row order
  std::vector<std::int32_t> logits_row;   // per row: its row in `logits`, or -1
  Tensor hidden;                          // [rows, C] f32

  // The logits [V] of one row. Throws Error when they were not wanted.
  [[nodiscard]] std::span<const float> logits_of(std::int32_t row) const;
};

// Ids that may be generated: those below `limit` except `holes`. Embeddings are padded beyond the tokenizer's ids;
// their logits mean nothing and are masked in plain and speculative decoding alike (ARCHITECTURE.md, E9).
struct ValidIds {
  std::int32_t limit = INT32_MAX;
  std::vector<std::int32_t> holes;  // ascending
};

class CausalLM {
 public:
  virtual ~CausalLM() = default;

  [[nodiscard]] virtual std::int32_t vocab_size() const = 0;   // V, rows of the head
  [[nodiscard]] virtual std::int32_t max_context() const = 0;  // most tokens of one sequence
  // An empty cache for this model; capacity is limited to what max_context() and draft rows can need.
  [[nodiscard]] virtual KVCache make_cache(std::int32_t capacity) const = 0;

  // Computes all rows in one pass and leaves them pending in their caches. Logits of ids outside valid_ids() are -inf.
  // Throws Error on tokens outside the vocabulary, wrong positions, full caches, and when wanted logits hold a NaN;
  // then the caches are as before the call.
  virtual void forward(const Batch& batch, Outputs& outputs) = 0;

  void restrict_ids(ValidIds ids) { valid_ids_ = std::move(ids); }
  [[nodiscard]] const ValidIds& valid_ids() const { return valid_ids_; }

 private:
  ValidIds valid_ids_;
};

}  // namespace minitorch::models
