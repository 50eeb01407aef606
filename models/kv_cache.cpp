// KVCache: committed tokens, pending draft rows, and the pages that hold their keys and values.
#include "models/kv_cache.h"

#include <algorithm>

#include "minitorch/base/check.h"

namespace minitorch::models {
namespace {

std::int64_t page_bytes(const CacheShape& shape) { return shape.layers * kernels::kv_layer_bytes(shape.layout); }

}  // namespace

KVCache::KVCache(const CacheShape& shape, std::int32_t capacity, const Runtime& runtime)
    : shape_(shape), capacity_(capacity), runtime_(runtime) {
  MT_CHECK(capacity >= 1, "KVCache: expected a capacity of at least 1, got {}", capacity);
  MT_CHECK(shape.layers >= 0, "KVCache: expected a number of layers, got {}", shape.layers);
  if (shape.layers == 0) return;
  const kernels::KvLayout& layout = shape.layout;
  MT_CHECK_AS(DTypeError, layout.dtype == DType::kF32 || layout.dtype == DType::kBF16,
              "KVCache: expected dtype f32 or bf16, got {}", name_of(layout.dtype));
  MT_CHECK_AS(ShapeError, layout.kv_heads >= 1 && layout.head_dim >= 1,
              "KVCache: expected at least one head of at least one element, got {} heads of {}", layout.kv_heads,
              layout.head_dim);
}

std::int32_t KVCache::append(std::int32_t token, std::int32_t parent) {
  const std::int32_t index = num_pending();
  MT_CHECK(parent >= kRoot && parent < index, "KVCache: expected a parent from -1 to {}, got {}", index - 1, parent);
  MT_CHECK(length_ + index < capacity_, "KVCache: all {} slots are taken ({} committed, {} pending)", capacity_,
           length_, index);
  take_pages(length_ + index + 1);
  add_tail(parent);
  tokens_.push_back(token);
  pending_depth_.push_back(parent == kRoot ? 0 : pending_depth_[static_cast<std::size_t>(parent)] + 1);
  pending_parent_.push_back(parent);
  return index;
}

// Notes which slots the new row's ancestors and itself occupy. As long as the path fills the slots behind the committed
// ones without a gap, nothing is listed. Lists that continue the last one share its memory.
void KVCache::add_tail(std::int32_t parent) {
  const std::int32_t index = num_pending();
  const auto parent_at = static_cast<std::size_t>(parent);
  const std::int32_t depth = parent == kRoot ? 0 : pending_depth_[parent_at] + 1;
  const std::int32_t parent_linear = parent == kRoot ? length_ : pending_linear_[parent_at];
  const std::int32_t parent_tail = length_ + depth - parent_linear;  // entries of the parent's list
  if (parent_tail == 0 && index == depth) {
    pending_linear_.push_back(parent_linear + 1);
    tail_begin_.push_back(static_cast<std::int32_t>(tails_.size()));
    return;
  }
  pending_linear_.push_back(parent_linear);
  const std::int32_t end = static_cast<std::int32_t>(tails_.size());
  std::int32_t begin = parent_tail == 0 ? end : tail_begin_[parent_at];
  if (begin + parent_tail != end) {
    for (std::int32_t i = 0; i < parent_tail; ++i) {
      tails_.push_back(tails_[static_cast<std::size_t>(begin + i)]);
    }
    begin = end;
  }
  tails_.push_back(slot_of(index));
  tail_begin_.push_back(begin);
}

std::int32_t KVCache::position_of(std::int32_t index) const {
  MT_CHECK(index >= 0 && index < num_pending(), "KVCache: expected a pending row below {}, got {}", num_pending(),
           index);
  return length_ + pending_depth_[static_cast<std::size_t>(index)];
}

kernels::AttentionRow KVCache::attention_row(std::int32_t index, std::int32_t sequence) const {
  const std::int32_t position = position_of(index);
  const auto at = static_cast<std::size_t>(index);
  return {.sequence = sequence,
          .num_keys = position + 1,
          .num_linear = pending_linear_[at],
          .tail = tails_.data() + tail_begin_[at]};
}

std::vector<std::int32_t> KVCache::path_tokens(std::int32_t index) const {
  std::vector<std::int32_t> path(static_cast<std::size_t>(position_of(index) - length_ + 1));
  for (auto place = path.rbegin(); place != path.rend(); ++place) {
    *place = tokens_[static_cast<std::size_t>(slot_of(index))];
    index = pending_parent_[static_cast<std::size_t>(index)];
  }
  return path;
}

void KVCache::check_path(std::span<const std::int32_t> path) const {
  std::int32_t parent = kRoot;
  for (const std::int32_t index : path) {
    MT_CHECK(index >= 0 && index < num_pending(), "KVCache: the path names row {}, but only {} rows are pending", index,
             num_pending());
    const std::int32_t actual = pending_parent_[static_cast<std::size_t>(index)];
    MT_CHECK(actual == parent, "KVCache: in the path row {} follows row {}, but its parent is {}", index, parent,
             actual);
    parent = index;
  }
}

void KVCache::move_slots(std::span<const std::int32_t> path) {
  move_from_.clear();
  move_to_.clear();
  for (std::size_t i = 0; i < path.size(); ++i) {
    const std::int32_t to = length_ + static_cast<std::int32_t>(i);
    if (slot_of(path[i]) == to) continue;
    move_from_.push_back(slot_of(path[i]));
    move_to_.push_back(to);
  }
  if (move_from_.empty()) return;
  for (std::size_t i = 0; i < move_from_.size(); ++i) {  // parents stand before children, so `to` never passes `from`
    tokens_[static_cast<std::size_t>(move_to_[i])] = tokens_[static_cast<std::size_t>(move_from_[i])];
  }
  if (shape_.layers == 0) return;
  const Runtime& runtime = runtime_.table != nullptr ? runtime_ : ExecutionScope::current().runtime;
  runtime.table->kv_move(kernels::Context{.pool = *runtime.threads},
                         {.layout = shape_.layout,
                          .pages = page_pointers_.data(),
                          .layers = shape_.layers,
                          .from = move_from_.data(),
                          .to = move_to_.data(),
                          .count = static_cast<std::int64_t>(move_from_.size())});
}

void KVCache::drop_pending() {
  tokens_.resize(static_cast<std::size_t>(length_));
  pending_parent_.clear();
  pending_depth_.clear();
  pending_linear_.clear();
  tails_.clear();
  tail_begin_.clear();
}

void KVCache::keep(std::span<const std::int32_t> path) {
  check_path(path);
  move_slots(path);
  length_ += static_cast<std::int32_t>(path.size());
  drop_pending();
}

void KVCache::keep_chain() {
  for (std::int32_t index = 0; index < num_pending(); ++index) {
    const std::int32_t parent = pending_parent_[static_cast<std::size_t>(index)];
    MT_CHECK(parent == index - 1, "KVCache: the pending rows are no chain, the parent of row {} is {}", index, parent);
  }
  length_ += num_pending();
  drop_pending();
}

void KVCache::truncate(std::int32_t length) {
  MT_CHECK(length >= 0 && length <= length_, "KVCache: expected a length from 0 to {} to keep, got {}", length_,
           length);
  length_ = length;
  drop_pending();
}

void KVCache::reserve(std::int32_t slots) {
  MT_CHECK(slots <= capacity_, "KVCache: expected at most {} slots to reserve, got {}", capacity_, slots);
  tokens_.reserve(static_cast<std::size_t>(std::max(slots, 0)));
  take_pages(slots);
}

void KVCache::take_pages(std::int32_t slots) {
  if (shape_.layers == 0) return;
  const std::int64_t pages = (std::int64_t{slots} + kernels::kPageSlots - 1) / kernels::kPageSlots;
  while (static_cast<std::int64_t>(pages_.size()) < pages) add_page();
}

void KVCache::add_page() {
  page_pointers_.reserve(pages_.size() + 1);
  pages_.emplace_back(static_cast<std::size_t>(page_bytes(shape_)));
  page_pointers_.push_back(pages_.back().data());
}

std::int64_t KVCache::bytes() const { return static_cast<std::int64_t>(pages_.size()) * page_bytes(shape_); }

kernels::KvPages KVCache::layer_pages(std::int64_t layer) const {
  MT_CHECK(layer >= 0 && layer < shape_.layers, "KVCache: expected a layer below {}, got {}", shape_.layers, layer);
  return {.pages = page_pointers_.data(), .layer_offset = layer * kernels::kv_layer_bytes(shape_.layout)};
}

}  // namespace minitorch::models
