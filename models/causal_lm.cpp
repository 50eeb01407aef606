// Batch and Outputs: what a forward pass is asked and what it answers.
#include "models/causal_lm.h"

#include "minitorch/base/check.h"

namespace minitorch::models {

std::int32_t Batch::add(std::int32_t sequence, std::int32_t token, std::int32_t parent) {
  const auto index = static_cast<std::int32_t>(rows.size());
  MT_CHECK(sequence >= 0 && static_cast<std::size_t>(sequence) < caches.size(),
           "Batch: expected a sequence below {}, got {}", caches.size(), sequence);
  MT_CHECK(parent >= KVCache::kRoot && parent < index, "Batch: expected a parent from -1 to {}, got {}", index - 1,
           parent);
  const std::int32_t position = parent == KVCache::kRoot ? caches[static_cast<std::size_t>(sequence)]->length()
                                                         : rows[static_cast<std::size_t>(parent)].position + 1;
  rows.push_back({.token = token, .position = position, .parent = parent, .sequence = sequence});
  return index;
}

std::int32_t Batch::add_chain(std::int32_t sequence, std::span<const std::int32_t> tokens, std::int32_t parent) {
  for (const std::int32_t token : tokens) parent = add(sequence, token, parent);
  return parent;
}

void Batch::clear() {
  rows.clear();
  caches.clear();
}

std::span<const float> Outputs::logits_of(std::int32_t row) const {
  const bool wanted =
      row >= 0 && static_cast<std::size_t>(row) < logits_row.size() && logits_row[static_cast<std::size_t>(row)] >= 0;
  MT_CHECK(wanted, "Outputs: the logits of row {} were not asked for", row);
  const auto cols = static_cast<std::size_t>(logits.size(1));
  return {logits.data<float>() + static_cast<std::size_t>(logits_row[static_cast<std::size_t>(row)]) * cols, cols};
}

}  // namespace minitorch::models
