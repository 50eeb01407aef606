// A paged K/V cache for the kernel tests, filled through the reference kv_store.
#pragma once

#include <vector>

#include "kernels/kernel_table.h"
#include "tests/kernels/support.h"

namespace minitorch::test {

// Sequences of `pages_each` pages with `layers` layers. Pages lie in memory in reverse order, so that none follows the
// other by chance.
class PagedCache {
 public:
  PagedCache(const kernels::KvLayout& layout, int sequences, int pages_each, int layers = 1)
      : layout_(layout),
        layers_(layers),
        memory_(static_cast<std::size_t>(sequences * pages_each * layers * kernels::kv_layer_bytes(layout))) {
    std::byte* page = memory_.data() + memory_.size();
    for (int s = 0; s < sequences; ++s) {
      pointers_.emplace_back();
      for (int p = 0; p < pages_each; ++p) pointers_.back().push_back(page -= layers * kernels::kv_layer_bytes(layout));
    }
    views_.resize(pointers_.size());
  }

  // All sequences as layer `layer` sees them; valid until the next call.
  const kernels::KvPages* layer(int layer) {
    for (std::size_t s = 0; s < pointers_.size(); ++s) {
      views_[s] = {pointers_[s].data(), layer * kernels::kv_layer_bytes(layout_)};
    }
    return views_.data();
  }
  [[nodiscard]] std::byte* const* pages(int sequence) const {
    return pointers_[static_cast<std::size_t>(sequence)].data();
  }
  [[nodiscard]] const kernels::KvLayout& layout() const { return layout_; }
  [[nodiscard]] int layers() const { return layers_; }
  [[nodiscard]] std::span<std::byte> bytes() const { return memory_.span(); }
  [[nodiscard]] std::int64_t row_size() const { return layout_.kv_heads * layout_.head_dim; }

  // Puts one row of keys and values [kv_heads, head_dim] into a slot.
  void put(int layer_index, kernels::KvSlot slot, const float* k, const float* v) {
    kernels::reference_table().kv_store(
        {.pool = pool_of(1)},
        {.layout = layout_, .sequences = layer(layer_index), .slots = &slot, .k = k, .v = v, .rows = 1});
  }

 private:
  kernels::KvLayout layout_;
  int layers_;
  Buffer memory_;
  std::vector<std::vector<std::byte*>> pointers_;
  std::vector<kernels::KvPages> views_;
};

}  // namespace minitorch::test
