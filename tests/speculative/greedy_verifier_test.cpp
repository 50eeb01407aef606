// Verifier "greedy" on chains and trees.
#include <doctest/doctest.h>

#include "minitorch/base/error.h"
#include "speculative/chooser_philox.h"
#include "tests/speculative/helpers.h"

using namespace minitorch;
using namespace minitorch::spec;
using test::Ids;

namespace {

const SamplingOptions kGreedy = {};

// The verdict on a draft when the target's argmax is argmax[0] behind the last token and argmax[i + 1] behind node i.
Verdict verdict_on(const Draft& draft, const Ids& argmax, std::int32_t first_row = 0) {
  models::Outputs outputs;
  outputs.argmax = argmax;
  PhiloxChooser chooser(0);
  Verdict verdict{.path = {9, 9}, .next_token = 9};  // left over from a former round
  Distribution buffer;
  test::greedy().verify(draft, TargetRows(outputs, first_row, /*sampling=*/kGreedy, buffer), chooser, verdict);
  return verdict;
}

}  // namespace

TEST_CASE("without a draft the target's own token follows") {
  const Verdict verdict = verdict_on({}, {4});
  CHECK(verdict.path.empty());
  CHECK(verdict.next_token == 4);
}

TEST_CASE("a chain stands up to the first token that is not the target's, and the correction follows it") {
  const Draft draft = test::chain({4, 5, 6});
  CHECK(verdict_on(draft, {4, 5, 6, 7}).path == Ids{0, 1, 2});
  CHECK(verdict_on(draft, {4, 5, 6, 7}).next_token == 7);
  CHECK(verdict_on(draft, {4, 9, 6, 7}).path == Ids{0});
  CHECK(verdict_on(draft, {4, 9, 6, 7}).next_token == 9);
  CHECK(verdict_on(draft, {0, 5, 6, 7}).path.empty());
  CHECK(verdict_on(draft, {0, 5, 6, 7}).next_token == 0);
}

TEST_CASE("in a tree the path goes through the branch the target takes, wherever its nodes are stored") {
  // 0:4  1:5  2:6(0)  3:7(1)  4:8(1)  5:9(4): the path 5, 8, 9 is scattered over nodes 1, 4, 5.
  const Draft draft{.tokens = {4, 5, 6, 7, 8, 9}, .parent = {-1, -1, 0, 1, 1, 4}};
  draft.validate();
  const Verdict verdict = verdict_on(draft, {5, 0, 8, 0, 0, 9, 3});
  CHECK(verdict.path == Ids{1, 4, 5});
  CHECK(verdict.next_token == 3);
}

TEST_CASE("the same token in another branch is not taken for a child") {
  const Draft draft{.tokens = {4, 5, 6}, .parent = {-1, -1, 0}};
  const Verdict verdict = verdict_on(draft, {5, 6, 6, 1});  // behind node 1 the target wants 6, which only node 0 has
  CHECK(verdict.path == Ids{1});
  CHECK(verdict.next_token == 6);
}

TEST_CASE("rows are counted from first_row") {
  const Verdict verdict = verdict_on(test::chain({4}), {7, 7, 4, 5}, /*first_row=*/2);
  CHECK(verdict.path == Ids{0});
  CHECK(verdict.next_token == 5);
}

TEST_CASE("outputs without the argmax that is needed are reported") {
  CHECK_THROWS_AS(verdict_on(test::chain({4}), {4, -1}), Error);
  CHECK_THROWS_AS(verdict_on(test::chain({4}), {4}), Error);
}
