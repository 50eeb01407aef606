// ReplayDrafter: plays given drafts, one per round.
#include "speculative/drafters/replay.h"

#include <algorithm>  // std::min

namespace minitorch::spec {

void ReplayDrafter::reset() {
  round_ = 0;
  verdicts_.clear();
}

void ReplayDrafter::propose(const DraftRequest& request, Draft& draft) {
  if (round_ >= drafts_.size()) return;
  const Draft& given = drafts_[round_++];
  // Parents stand before their children, so the first nodes of a tree are a tree.
  for (std::int32_t node = 0; node < std::min(request.budget, given.size()); ++node) {
    draft.add(given.tokens[static_cast<std::size_t>(node)], given.parent[static_cast<std::size_t>(node)]);
  }
}

void ReplayDrafter::observe(std::span<const std::int32_t> /*history*/, const Draft& /*draft*/, const Verdict& verdict) {
  verdicts_.push_back(verdict);
}

}  // namespace minitorch::spec
