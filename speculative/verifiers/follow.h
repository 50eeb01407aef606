// Walking down a draft tree along the tokens that the target itself wants.
#pragma once

#include "speculative/draft.h"

namespace minitorch::spec {

// wanted_behind(node) is the target's token behind a node, or behind Draft::kRoot. It is asked once for the root and
// each node of the path, downwards, and for no other. The path holds the nodes that carry what is wanted, and the next
// token is what is wanted behind the last of them.
template <typename WantedBehind>
void follow(const Draft& draft, WantedBehind wanted_behind, Verdict& verdict) {
  verdict.path.clear();
  std::int32_t last = Draft::kRoot;
  std::int32_t wanted = wanted_behind(last);
  // Children stand behind their parents and siblings differ in token, so one pass over the nodes finds the whole path.
  for (std::int32_t node = 0; node < draft.size(); ++node) {
    const auto index = static_cast<std::size_t>(node);
    if (draft.parent[index] != last || draft.tokens[index] != wanted) continue;
    verdict.path.push_back(node);
    last = node;
    wanted = wanted_behind(last);
  }
  verdict.next_token = wanted;
}

}  // namespace minitorch::spec
