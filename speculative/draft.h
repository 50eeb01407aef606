// Draft and Verdict: what a drafter proposes and what a verifier decides.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "speculative/distribution.h"

namespace minitorch::spec {

// Proposed tokens as a tree; a chain is a tree in which every node's parent is the one before it.
struct Draft {
  static constexpr std::int32_t kRoot = -1;  // the last committed token

  std::vector<std::int32_t> tokens;  // [N]
  std::vector<std::int32_t> parent;  // [N] index of an earlier node, or kRoot
  // What the tokens were drawn from, by node; read it through drawn_from(). A second child of a node is drawn from the
  // row without the first one's token, normalised.
  std::vector<Distribution> drawn = {};

  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(tokens.size()); }
  [[nodiscard]] bool empty() const { return tokens.empty(); }
  // Nodes on the longest path from the root.
  [[nodiscard]] std::int32_t depth() const;
  std::int32_t add(std::int32_t token, std::int32_t parent_node);  // returns the new node's index
  // Adds a token that was drawn from `row`, and swaps `row` with a former round's memory.
  std::int32_t add_drawn(std::int32_t token, std::int32_t parent_node, Distribution& row);
  // The distribution a node's token was drawn from; null: it was not drawn, and no other token was possible.
  [[nodiscard]] const Distribution* drawn_from(std::int32_t node) const;
  void clear();
  // Throws Error when a parent is not an earlier node, or two children of one node carry the same token.
  void validate() const;
};

// The nodes accepted, from the root down, and the target's own token behind them.
struct Verdict {
  std::vector<std::int32_t> path;
  std::int32_t next_token = 0;
};

}  // namespace minitorch::spec
