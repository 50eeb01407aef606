// NgramIndex: an open-addressing hash table from n-grams to positions.
#include "speculative/drafters/ngram_index.h"

#include <algorithm>
#include <utility>

#include "minitorch/base/check.h"

namespace minitorch::spec {
namespace {

constexpr std::size_t kFirstSlots = 1024;

// Adds one token to the hash of the tokens behind it. The constant is 2^64 / golden ratio, the shift brings high bits
// down.
std::uint64_t mix(std::uint64_t hash, std::int32_t token) {
  hash = (hash ^ static_cast<std::uint32_t>(token)) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 29);
}

// Calls visit(length, key) for the n-grams that end before `end`, shortest first.
template <typename Visit>
void for_each_ngram(std::span<const std::int32_t> history, std::int32_t end, std::int32_t max_ngram, Visit visit) {
  std::uint64_t hash = 0x2545F4914F6CDD1Du;
  for (std::int32_t length = 1; length <= std::min(max_ngram, end); ++length) {
    hash = mix(hash, history[static_cast<std::size_t>(end - length)]);
    visit(length, hash);
  }
}

// Whether the `length` tokens before positions a and b are the same: a hash alone may collide.
bool same_tokens(std::span<const std::int32_t> history, std::int32_t a, std::int32_t b, std::int32_t length) {
  if (a < length || b < length) return false;
  const auto first = history.begin() + (a - length);
  return std::equal(first, first + length, history.begin() + (b - length));
}

}  // namespace

NgramIndex::NgramIndex(std::int32_t min_ngram, std::int32_t max_ngram)
    : min_ngram_(min_ngram), max_ngram_(max_ngram), slots_(kFirstSlots) {
  MT_CHECK(min_ngram >= 1 && max_ngram >= min_ngram,
           "ngram drafter: expected 1 <= min_ngram <= max_ngram, got {} and {}", min_ngram, max_ngram);
}

void NgramIndex::clear() {
  std::fill(slots_.begin(), slots_.end(), Slot{});
  used_ = 0;
  indexed_ = 0;
}

void NgramIndex::extend(std::span<const std::int32_t> history) {
  for (const auto size = static_cast<std::int32_t>(history.size()); indexed_ < size; ++indexed_) {
    for_each_ngram(history, indexed_, max_ngram_, [&](std::int32_t length, std::uint64_t key) {
      if (length >= min_ngram_) insert(history, key, length, indexed_);
    });
  }
}

NgramIndex::Continuations NgramIndex::find(std::span<const std::int32_t> history) const {
  const auto end = static_cast<std::int32_t>(history.size());
  Continuations longest;
  for_each_ngram(history, end, max_ngram_, [&](std::int32_t length, std::uint64_t key) {
    if (length < min_ngram_) return;
    const Slot& slot = slots_[probe(key)];
    if (slot.next.recent >= 0 && same_tokens(history, slot.next.recent, end, length)) longest = slot.next;
  });
  return longest;
}

std::size_t NgramIndex::probe(std::uint64_t key) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = static_cast<std::size_t>(key) & mask;
  while (slots_[slot].next.recent >= 0 && slots_[slot].key != key) slot = (slot + 1) & mask;
  return slot;
}

void NgramIndex::insert(std::span<const std::int32_t> history, std::uint64_t key, std::int32_t length,
                        std::int32_t position) {
  if (2 * (used_ + 1) > slots_.size()) grow();
  Slot& slot = slots_[probe(key)];
  if (slot.next.recent < 0) {
    ++used_;
    slot = {.key = key, .next = {.recent = position}};
    return;
  }
  const auto token_at = [&](std::int32_t at) { return history[static_cast<std::size_t>(at)]; };
  if (!same_tokens(history, slot.next.recent, position, length)) {
    slot.next.other = -1;  // a hash collision: the newer n-gram takes the slot
  } else if (token_at(slot.next.recent) != token_at(position)) {
    slot.next.other = slot.next.recent;
  }
  slot.next.recent = position;
}

void NgramIndex::grow() {
  std::vector<Slot> former(2 * slots_.size());
  std::swap(former, slots_);
  for (const Slot& slot : former) {
    if (slot.next.recent >= 0) slots_[probe(slot.key)] = slot;
  }
}

}  // namespace minitorch::spec
