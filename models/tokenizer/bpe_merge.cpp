// The merge table and both merge loops.
#include "models/tokenizer/bpe_merge.h"

#include <algorithm>
#include <bit>  // std::bit_ceil
#include <functional>

namespace minitorch::models {

void MergeTable::reserve(std::size_t num_merges) {
  const std::size_t num_slots = std::bit_ceil(std::max<std::size_t>(16, 2 * num_merges));
  if (num_slots <= slots_.size()) return;
  std::vector<Slot> old(num_slots);
  old.swap(slots_);
  shift_ = 64 - std::countr_zero(num_slots);
  for (const Slot& entry : old) {
    if (entry.key != kEmpty) slots_[slot_of(entry.key)] = entry;
  }
}

void MergeTable::set(std::int32_t left, std::int32_t right, Merge merge) {
  reserve(num_merges_ + 1);
  const std::uint64_t key = key_of(left, right);
  Slot& slot = slots_[slot_of(key)];
  if (slot.key == kEmpty) ++num_merges_;
  slot = {key, merge};
}

void merge_few_symbols(std::vector<std::int32_t>& ids, const MergeTable& merges, MergeScratch& scratch) {
  std::vector<MergeScratch::Symbol>& symbols = scratch.symbols;
  symbols.clear();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    symbols.push_back({.id = ids[i], .with_next = i + 1 < ids.size() ? merges.find(ids[i], ids[i + 1]) : Merge{}});
  }
  const auto by_rank = [](const auto& a, const auto& b) { return a.with_next.rank < b.with_next.rank; };
  while (true) {
    const auto left = std::min_element(symbols.begin(), symbols.end(), by_rank);
    if (left == symbols.end() || left->with_next.rank == Merge::kNoRank) break;
    left->id = left->with_next.result;
    const auto next = symbols.erase(left + 1);
    left->with_next = next != symbols.end() ? merges.find(left->id, next->id) : Merge{};
    if (left != symbols.begin()) (left - 1)->with_next = merges.find((left - 1)->id, left->id);
  }
  ids.clear();
  for (const MergeScratch::Symbol& symbol : symbols) ids.push_back(symbol.id);
}

void merge_many_symbols(std::vector<std::int32_t>& ids, const MergeTable& merges, MergeScratch& scratch) {
  const auto count = static_cast<std::int32_t>(ids.size());
  std::vector<MergeScratch::Symbol>& symbols = scratch.symbols;
  std::vector<std::uint64_t>& queue = scratch.queue;
  const auto at = [&](std::int32_t place) -> MergeScratch::Symbol& { return symbols[static_cast<std::size_t>(place)]; };
  const auto entry = [&](std::int32_t place) {
    return std::uint64_t{at(place).with_next.rank} << 32 | static_cast<std::uint32_t>(place);
  };
  symbols.resize(ids.size());
  queue.clear();
  for (std::int32_t i = 0; i < count; ++i) {
    const bool last = i + 1 == count;
    const std::int32_t id = ids[static_cast<std::size_t>(i)];
    at(i) = {.id = id,
             .previous = i - 1,
             .next = last ? -1 : i + 1,
             .with_next = last ? Merge{} : merges.find(id, ids[static_cast<std::size_t>(i) + 1])};
    if (at(i).with_next.rank != Merge::kNoRank) queue.push_back(entry(i));
  }
  std::make_heap(queue.begin(), queue.end(), std::greater<>{});

  const auto update = [&](std::int32_t place) {
    at(place).with_next = at(place).next >= 0 ? merges.find(at(place).id, at(at(place).next).id) : Merge{};
    if (at(place).with_next.rank == Merge::kNoRank) return;
    queue.push_back(entry(place));
    std::push_heap(queue.begin(), queue.end(), std::greater<>{});
  };
  while (!queue.empty()) {
    std::pop_heap(queue.begin(), queue.end(), std::greater<>{});
    const std::uint64_t top = queue.back();
    queue.pop_back();
    const auto place = static_cast<std::int32_t>(top & 0xFFFFFFFF);
    if (at(place).with_next.rank != top >> 32) continue;  // the pair has changed since it was queued
    const std::int32_t right = at(place).next;
    const std::int32_t next = at(right).next;
    at(place).id = at(place).with_next.result;
    at(place).next = next;
    at(right).with_next = {};  // gone
    if (next >= 0) at(next).previous = place;
    update(place);
    if (at(place).previous >= 0) update(at(place).previous);
  }
  ids.clear();
  for (std::int32_t i = 0; i >= 0 && i < count; i = at(i).next) ids.push_back(at(i).id);
}

void merge_symbols(std::vector<std::int32_t>& ids, const MergeTable& merges, MergeScratch& scratch) {
  constexpr std::size_t kFew = 32;
  if (ids.size() <= kFew) return merge_few_symbols(ids, merges, scratch);
  merge_many_symbols(ids, merges, scratch);
}

}  // namespace minitorch::models
