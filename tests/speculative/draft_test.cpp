// Draft: trees are built and checked.
#include "speculative/draft.h"

#include <doctest/doctest.h>

#include "minitorch/base/error.h"

using minitorch::Error;
using minitorch::spec::Draft;

TEST_CASE("a draft hands out node numbers in order and forgets them all on clear") {
  Draft draft;
  CHECK(draft.empty());
  CHECK(draft.add(5, Draft::kRoot) == 0);
  CHECK(draft.add(6, 0) == 1);
  CHECK(draft.add(6, Draft::kRoot) == 2);
  CHECK(draft.size() == 3);
  CHECK_NOTHROW(draft.validate());
  draft.clear();
  CHECK(draft.empty());
}

TEST_CASE("a draft whose parent is not an earlier node is refused") {
  Draft draft{.tokens = {1, 2}, .parent = {Draft::kRoot, 1}};
  CHECK_THROWS_WITH_AS(draft.validate(), "draft: the parent of node 1 is expected to be -1 or an earlier node, got 1",
                       Error);
  draft.parent = {-2, 0};
  CHECK_THROWS_AS(draft.validate(), Error);
}

TEST_CASE("a draft with fewer parents than tokens is refused") {
  const Draft draft{.tokens = {1, 2}, .parent = {Draft::kRoot}};
  CHECK_THROWS_AS(draft.validate(), Error);
}

TEST_CASE("two children of one node with the same token are refused, cousins are not") {
  const Draft cousins{.tokens = {1, 2, 3, 3}, .parent = {-1, -1, 0, 1}};
  CHECK_NOTHROW(cousins.validate());
  const Draft siblings{.tokens = {1, 3, 3}, .parent = {-1, 0, 0}};
  CHECK_THROWS_WITH_AS(siblings.validate(), "draft: nodes 1 and 2 below node 0 carry the same token 3", Error);
}

TEST_CASE("the depth of a draft is its longest path, whatever the order of its nodes") {
  CHECK(Draft{}.depth() == 0);
  CHECK(Draft{.tokens = {1, 2, 3}, .parent = {-1, -1, -1}}.depth() == 1);
  CHECK(Draft{.tokens = {1, 2, 3}, .parent = {-1, 0, 1}}.depth() == 3);
  CHECK(Draft{.tokens = {1, 2, 3, 4, 5, 6}, .parent = {-1, -1, 1, 0, 2, 0}}.depth() == 3);
}
