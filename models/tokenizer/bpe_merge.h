// Byte pair encoding proper: the merges and the loop that applies them (Sennrich et al. 2016, in the order tokenizers
// define).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace minitorch::models {

struct Merge {
  static constexpr std::uint32_t kNoRank = static_cast<std::uint32_t>(-1);
  std::uint32_t rank = kNoRank;  // lower comes first; kNoRank: the two do not merge
  std::int32_t result = -1;
};

// Pairs of ids to their merge.
class MergeTable {
 public:
  void reserve(std::size_t num_merges);
  // A later merge of the same pair replaces an earlier one.
  void set(std::int32_t left, std::int32_t right, Merge merge);
  [[nodiscard]] Merge find(std::int32_t left, std::int32_t right) const {
    if (slots_.empty()) return {};
    return slots_[slot_of(key_of(left, right))].merge;
  }

 private:
  static constexpr std::uint64_t kEmpty = static_cast<std::uint64_t>(-1);
  struct Slot {
    std::uint64_t key = kEmpty;
    Merge merge;
  };
  static std::uint64_t key_of(std::int32_t left, std::int32_t right) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 | static_cast<std::uint32_t>(right);
  }
  [[nodiscard]] std::size_t slot_of(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = key * 0x9E3779B97F4A7C15 >> shift_;  // Fibonacci hashing
    while (slots_[slot].key != key && slots_[slot].key != kEmpty) slot = (slot + 1) & mask;
    return slot;
  }

  std::vector<Slot> slots_;  // a power of two, at most half full
  int shift_ = 0;            // 64 - log2 of the number of slots
  std::size_t num_merges_ = 0;
};

// Working memory of merging, reused from piece to piece.
struct MergeScratch {
  struct Symbol {
    std::int32_t id = 0;
    std::int32_t previous = -1;
    std::int32_t next = -1;
    Merge with_next;  // of this symbol and the next one
  };
  std::vector<Symbol> symbols;
  std::vector<std::uint64_t> queue;  // rank << 32 | place of the left symbol
};

// Replaces `ids` by what is left when no pair merges any more: always the merge of lowest rank, the leftmost of equal
// ones.
void merge_symbols(std::vector<std::int32_t>& ids, const MergeTable& merges, MergeScratch& scratch);

// The two ways of doing that: looking through all pairs each time, for few symbols, and a priority queue, O(n log n).
void merge_few_symbols(std::vector<std::int32_t>& ids, const MergeTable& merges, MergeScratch& scratch);
void merge_many_symbols(std::vector<std::int32_t>& ids, const MergeTable& merges, MergeScratch& scratch);

}  // namespace minitorch::models
