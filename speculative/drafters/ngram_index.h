// NgramIndex: where each n-gram of a growing token sequence occurred last, found in constant time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace minitorch::spec {

class NgramIndex {
 public:
  // Indexes n-grams of min_ngram to max_ngram tokens.
  NgramIndex(std::int32_t min_ngram, std::int32_t max_ngram);

  void clear();
  // Indexes the n-grams that a further token has followed since the last call. The history may only grow between two
  // clear().
  void extend(std::span<const std::int32_t> history);

  // What followed an n-gram: positions in the history, -1 where there is none.
  struct Continuations {
    std::int32_t recent = -1;  // of the token behind the most recent occurrence
    std::int32_t other = -1;   // of the token behind the most recent occurrence that went on differently
  };
  // Of the longest suffix of the history that occurred before.
  [[nodiscard]] Continuations find(std::span<const std::int32_t> history) const;

 private:
  struct Slot {
    std::uint64_t key = 0;
    Continuations next;
  };
  [[nodiscard]] std::size_t probe(std::uint64_t key) const;
  void insert(std::span<const std::int32_t> history, std::uint64_t key, std::int32_t length, std::int32_t position);
  void grow();

  std::int32_t min_ngram_;
  std::int32_t max_ngram_;
  std::int32_t indexed_ = 0;  // positions < indexed_ are known as continuations
  std::size_t used_ = 0;
  std::vector<Slot> slots_;  // open addressing, a power of two, at most half full
};

}  // namespace minitorch::spec
