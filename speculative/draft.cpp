// Draft: building and checking trees.
#include "speculative/draft.h"

#include <algorithm>  // std::max
#include <utility>    // std::swap

#include "minitorch/base/check.h"

namespace minitorch::spec {

std::int32_t Draft::add(std::int32_t token, std::int32_t parent_node) {
  tokens.push_back(token);
  parent.push_back(parent_node);
  const std::int32_t node = size() - 1;
  if (drawn.size() >= tokens.size()) drawn[static_cast<std::size_t>(node)].tokens.clear();  // of a former round
  return node;
}

std::int32_t Draft::add_drawn(std::int32_t token, std::int32_t parent_node, Distribution& row) {
  const std::int32_t node = add(token, parent_node);
  if (drawn.size() < tokens.size()) drawn.resize(tokens.size());
  std::swap(drawn[static_cast<std::size_t>(node)], row);
  return node;
}

const Distribution* Draft::drawn_from(std::int32_t node) const {
  const auto index = static_cast<std::size_t>(node);
  return index < drawn.size() && !drawn[index].tokens.empty() ? &drawn[index] : nullptr;
}

// Rows stay for their memory; add() empties those it uses again.
void Draft::clear() {
  tokens.clear();
  parent.clear();
}

std::int32_t Draft::depth() const {
  std::int32_t deepest = 0;
  for (std::int32_t leaf = 0; leaf < size(); ++leaf) {
    std::int32_t length = 0;
    for (std::int32_t node = leaf; node != kRoot; node = parent[static_cast<std::size_t>(node)]) ++length;
    deepest = std::max(deepest, length);
  }
  return deepest;
}

void Draft::validate() const {
  MT_CHECK(tokens.size() == parent.size(), "draft: expected as many parents as tokens, got {} and {}", parent.size(),
           tokens.size());
  for (std::size_t node = 0; node < tokens.size(); ++node) {
    MT_CHECK(parent[node] >= kRoot && parent[node] < static_cast<std::int32_t>(node),
             "draft: the parent of node {} is expected to be -1 or an earlier node, got {}", node, parent[node]);
    for (std::size_t sibling = 0; sibling < node; ++sibling) {
      MT_CHECK(parent[sibling] != parent[node] || tokens[sibling] != tokens[node],
               "draft: nodes {} and {} below node {} carry the same token {}", sibling, node, parent[node],
               tokens[node]);
    }
  }
}

}  // namespace minitorch::spec
