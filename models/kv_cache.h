// KVCache: keys and values of one sequence, in pages of 64 slots, with draft trees on top of the committed tokens.
//
// Committed tokens occupy the slots 0 .. length()-1. A forward pass appends its rows behind them as pending rows (a
// tree); then the caller decides: keep(path) commits the rows of one path and drops the others, keep({}) drops all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/ops/attention.h"
#include "minitorch/base/memory.h"
#include "minitorch/core/execution_scope.h"

namespace minitorch::models {

// What one slot of the cache holds; layers = 0 stores tokens only (models without attention, tests).
struct CacheShape {
  std::int64_t layers = 0;
  kernels::KvLayout layout;
};

class KVCache {
 public:
  static constexpr std::int32_t kRoot = -1;  // parent of a pending row that follows the last committed token

  // `capacity`: most slots (committed and pending) it will ever hold. Pages are taken when first needed. `runtime`
  // moves kept rows and outlives the cache; an empty one stands for that of the ExecutionScope in which rows are moved.
  explicit KVCache(const CacheShape& shape, std::int32_t capacity, const Runtime& runtime = {});

  [[nodiscard]] std::int32_t length() const { return length_; }  // committed tokens
  [[nodiscard]] std::int32_t num_pending() const { return static_cast<std::int32_t>(pending_parent_.size()); }
  [[nodiscard]] std::int32_t capacity() const { return capacity_; }
  [[nodiscard]] const CacheShape& shape() const { return shape_; }
  // Tokens by slot: committed ones first, then the pending rows.
  [[nodiscard]] std::span<const std::int32_t> tokens() const { return tokens_; }

  // Appends a pending row below `parent` (a pending row's index, or kRoot) and returns its index among the pending
  // rows. Throws Error when the capacity is exhausted or the parent does not exist.
  std::int32_t append(std::int32_t token, std::int32_t parent);

  // Of pending row `index`: its slot, its logical position, and its keys in logical order (valid until the next
  // change).
  [[nodiscard]] std::int32_t slot_of(std::int32_t index) const { return length_ + index; }
  [[nodiscard]] std::int32_t position_of(std::int32_t index) const;
  [[nodiscard]] kernels::AttentionRow attention_row(std::int32_t index, std::int32_t sequence) const;
  // Pending tokens from the root to `index`, in order.
  [[nodiscard]] std::vector<std::int32_t> path_tokens(std::int32_t index) const;

  // Commits the pending rows `path` (each the parent of the next, the first below the root) and drops all others.
  // keep({}) drops all pending rows.
  // Throws Error, changing nothing, when `path` is no such path.
  void keep(std::span<const std::int32_t> path);
  // Commits the pending rows as they are when they form a chain (prefill).
  void keep_chain();
  // Forgets committed tokens from `length` on, and all pending rows. Throws Error when length exceeds length().
  void truncate(std::int32_t length);

  // Takes all memory for `slots` slots now, so that decoding allocates nothing.
  void reserve(std::int32_t slots);
  [[nodiscard]] std::int64_t bytes() const;  // of all pages taken
  // The pages as kernels see them for one layer.
  [[nodiscard]] kernels::KvPages layer_pages(std::int64_t layer) const;

 private:
  void take_pages(std::int32_t slots);
  void add_page();
  void add_tail(std::int32_t parent);
  void check_path(std::span<const std::int32_t> path) const;
  void move_slots(std::span<const std::int32_t> path);
  void drop_pending();

  CacheShape shape_;
  std::int32_t capacity_;
  Runtime runtime_;
  std::int32_t length_ = 0;
  std::vector<std::int32_t> tokens_;          // by slot
  std::vector<std::int32_t> pending_parent_;  // by pending row
  std::vector<std::int32_t> pending_depth_;   // 0 below the root
  std::vector<std::int32_t> pending_linear_;  // AttentionRow::num_linear
  std::vector<std::int32_t> tails_;           // slots of all AttentionRow::tail lists
  std::vector<std::int32_t> tail_begin_;      // by pending row, into tails_
  std::vector<std::int32_t> move_from_;       // reused by keep()
  std::vector<std::int32_t> move_to_;
  std::vector<Buffer> pages_;
  std::vector<std::byte*> page_pointers_;
};

}  // namespace minitorch::models
