// The behaviours as rules about which part joins the piece in front of it.
#include "models/tokenizer/split.h"

namespace minitorch::models {
namespace {

struct Part {
  TextRange range;
  bool is_match;
};

// Matches and the text between them, in order. Empty matches are parts, empty text between matches is not.
std::vector<Part> parts_of(TextRange whole, std::span<const TextRange> matches, bool invert) {
  std::vector<Part> parts;
  parts.reserve(2 * matches.size() + 1);
  std::size_t end = whole.begin;
  for (const TextRange& match : matches) {
    const TextRange range{whole.begin + match.begin, whole.begin + match.end};
    if (end != range.begin) parts.push_back({{end, range.begin}, invert});
    parts.push_back({range, !invert});
    end = range.end;
  }
  if (end != whole.end) parts.push_back({{end, whole.end}, invert});
  return parts;
}

bool joins_previous(SplitBehavior behavior, bool is_match, bool previous_is_match) {
  switch (behavior) {
    case SplitBehavior::kRemoved:
    case SplitBehavior::kIsolated: return false;
    case SplitBehavior::kContiguous: return is_match == previous_is_match;
    case SplitBehavior::kMergedWithPrevious:
    case SplitBehavior::kMergedWithNext: return is_match && !previous_is_match;  // with next: seen from the right
  }
  return false;
}

void push(TextRange range, std::vector<TextRange>& pieces) {
  if (!range.empty()) pieces.push_back(range);
}

// Isolated and removed matches, by far the most frequent, without a list of parts.
void split_apart(TextRange whole, std::span<const TextRange> matches, bool keep_matches, bool keep_others,
                 std::vector<TextRange>& pieces) {
  std::size_t end = whole.begin;
  for (const TextRange& match : matches) {
    const TextRange range{whole.begin + match.begin, whole.begin + match.end};
    if (keep_others) push({end, range.begin}, pieces);
    if (keep_matches) push(range, pieces);
    end = range.end;
  }
  if (keep_others) push({end, whole.end}, pieces);
}

}  // namespace

void split_at(TextRange whole, std::span<const TextRange> matches, SplitBehavior behavior, bool invert,
              std::vector<TextRange>& pieces) {
  if (behavior == SplitBehavior::kIsolated)
    return split_apart(whole, matches, /*keep_matches=*/true, /*keep_others=*/true, pieces);
  if (behavior == SplitBehavior::kRemoved)
    return split_apart(whole, matches, /*keep_matches=*/invert, /*keep_others=*/!invert, pieces);
  const bool from_right = behavior == SplitBehavior::kMergedWithNext;
  std::vector<Part> parts = parts_of(whole, matches, invert);
  if (from_right) std::vector<Part>(parts.rbegin(), parts.rend()).swap(parts);
  std::vector<TextRange> joined;
  bool previous_is_match = false;
  for (const Part& part : parts) {
    if (!joined.empty() && joins_previous(behavior, part.is_match, previous_is_match)) {
      (from_right ? joined.back().begin : joined.back().end) = from_right ? part.range.begin : part.range.end;
    } else {
      joined.push_back(part.range);
    }
    previous_is_match = part.is_match;
  }
  if (from_right) std::vector<TextRange>(joined.rbegin(), joined.rend()).swap(joined);
  for (const TextRange& range : joined) push(range, pieces);
}

}  // namespace minitorch::models
