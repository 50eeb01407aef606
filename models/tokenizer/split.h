// Splitting at matches: the five behaviours that tokenizer.json names.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/tokenizer/pattern.h"

namespace minitorch::models {

enum class SplitBehavior : std::uint8_t {
  kRemoved,             // matches are dropped
  kIsolated,            // every match is a piece
  kMergedWithPrevious,  // a match belongs to the piece before it
  kMergedWithNext,      // or behind it
  kContiguous,          // neighbouring matches are one piece
};

// Appends the non-empty pieces of `whole` to `pieces`. `matches` are positions relative to whole.begin; `invert`
// exchanges matches and the text between them.
void split_at(TextRange whole, std::span<const TextRange> matches, SplitBehavior behavior, bool invert,
              std::vector<TextRange>& pieces);

}  // namespace minitorch::models
