// Drafter "ngram": what is looked up and what is proposed.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>

#include "minitorch/base/error.h"
#include "tests/speculative/helpers.h"

using namespace minitorch;
using namespace minitorch::spec;
using test::Ids;

namespace {

Draft propose(const Ids& history, std::int32_t budget, const DrafterOptions& options = {}) {
  const auto drafter = find_drafter("ngram").make(options);
  Draft draft;
  drafter->propose({.history = history, .budget = budget}, draft);
  draft.validate();
  return draft;
}

// The look-up by definition: the longest suffix of max_ngram to min_ngram tokens, its most recent earlier occurrence;
// the continuation repeats itself behind the end of the history.
Ids continuation_by_search(const Ids& history, std::int32_t budget, const DrafterOptions& options) {
  const auto size = static_cast<std::int32_t>(history.size());
  for (std::int32_t length = std::min(options.max_ngram, size - 1); length >= options.min_ngram; --length) {
    for (std::int32_t end = size - 1; end >= length; --end) {
      if (!std::equal(history.end() - length, history.end(), history.begin() + (end - length))) continue;
      Ids copy = history;
      for (std::int32_t i = 0; i < budget; ++i) copy.push_back(copy[static_cast<std::size_t>(end + i)]);
      return {copy.begin() + size, copy.end()};
    }
  }
  return {};
}

}  // namespace

TEST_CASE("what followed the same tokens earlier is proposed") {
  const Draft draft = propose({1, 2, 3, 4, 5, 9, 1, 2, 3}, 3);
  CHECK(draft.tokens == Ids{4, 5, 9});
  CHECK(draft.parent == Ids{-1, 0, 1});
}

TEST_CASE("text without a repetition, a single token and a budget of 0 give no draft") {
  CHECK(propose({1, 2, 3, 4}, 4).empty());
  CHECK(propose({7}, 4).empty());
  CHECK(propose({1, 2, 1, 2}, 0).empty());
}

TEST_CASE("a longer match wins over a more recent shorter one") {
  // 1 2 3 was followed by 4, a later 3 by 8.
  CHECK(propose({1, 2, 3, 4, 6, 3, 8, 1, 2, 3}, 1).tokens == Ids{4});
}

TEST_CASE("of equally long matches the most recent one is taken") {
  CHECK(propose({1, 2, 5, 0, 1, 2, 6, 0, 1, 2}, 1).tokens == Ids{6});
}

TEST_CASE("a short loop is drafted to the whole budget") {
  CHECK(propose({4, 9, 4, 9}, 5, {.branch_share = 0}).tokens == Ids{4, 9, 4, 9, 4});
  CHECK(propose({3, 3}, 4).tokens == Ids{3, 3, 3, 3});
}

TEST_CASE("a second known continuation becomes a branch with its share of the nodes") {
  const Ids history{1, 2, 5, 6, 7, 1, 2, 8, 9, 1, 2};
  const Draft tree = propose(history, 8, {.max_ngram = 2, .branch_share = 4});
  CHECK(tree.tokens == Ids{8, 9, 1, 2, 8, 9, 5, 6});
  CHECK(tree.parent == Ids{-1, 0, 1, 2, 3, 4, -1, 6});
  const Draft without = propose(history, 8, {.max_ngram = 2, .branch_share = 0});
  CHECK(without.tokens == Ids{8, 9, 1, 2, 8, 9, 1, 2});
  CHECK(propose(history, 3, {.max_ngram = 2, .branch_share = 4}).tokens == Ids{8, 9, 1});
}

TEST_CASE("min_ngram and max_ngram bound the match") {
  const Ids history{1, 2, 3, 7, 5, 3, 8, 2, 3};
  CHECK(propose(history, 1, {.max_ngram = 3}).tokens == Ids{7});  // "2 3"
  CHECK(propose(history, 1, {.max_ngram = 1}).tokens == Ids{8});  // "3", most recent
  CHECK(propose(history, 1, {.max_ngram = 3, .min_ngram = 3}).empty());
  CHECK_THROWS_AS(propose(history, 1, {.max_ngram = 2, .min_ngram = 3}), Error);
  CHECK_THROWS_AS(propose(history, 1, {.min_ngram = 0}), Error);
}

TEST_CASE("reset forgets the former request") {
  const auto drafter = find_drafter("ngram").make({});
  Draft draft;
  drafter->propose({.history = Ids{1, 2, 3, 1, 2}, .budget = 2}, draft);
  CHECK(draft.tokens == Ids{3, 1});
  drafter->reset();
  draft.clear();
  drafter->propose({.history = Ids{1, 2}, .budget = 2}, draft);
  CHECK(draft.empty());
  drafter->propose({.history = Ids{1, 2, 7, 1, 2}, .budget = 2}, draft);
  CHECK(draft.tokens == Ids{7, 1});
}

TEST_CASE("drafting step by step over a growing random text equals a search over the whole text") {
  const std::uint64_t seed = 20240611;
  CAPTURE(seed);
  PhiloxStream random(seed);
  const DrafterOptions options{.max_ngram = 4, .branch_share = 0};
  const auto drafter = find_drafter("ngram").make(options);
  Ids history;
  for (int step = 0; step < 4000; ++step) {  // long enough for the index to grow several times
    // Mostly copies of an earlier stretch, so that long matches occur.
    const bool copy = history.size() > 40 && random.below(4) != 0;
    history.push_back(copy ? history[history.size() - 40] : static_cast<std::int32_t>(random.below(60)));
    Draft draft;
    drafter->propose({.history = history, .budget = 5}, draft);
    CAPTURE(step);
    REQUIRE(draft.tokens == continuation_by_search(history, 5, options));
  }
}
