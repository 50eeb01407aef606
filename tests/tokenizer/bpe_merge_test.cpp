// The merge loops: both ways of looking for the next merge give the same, and the order is by rank, then from the left.
#include "models/tokenizer/bpe_merge.h"
#include "minitorch/base/philox.h"
#include "models/tokenizer/bpe_model.h"
#include "tests/tokenizer/helpers.h"

namespace minitorch::test {
namespace {

using Ids = std::vector<std::int32_t>;
using MergeFunction = void (*)(Ids&, const models::MergeTable&, models::MergeScratch&);

Ids merged(MergeFunction merge, Ids ids, const models::MergeTable& merges) {
  models::MergeScratch scratch;
  merge(ids, merges, scratch);
  return ids;
}

// Straight from the definition: look for the best pair, merge its leftmost occurrence, start again.
Ids merged_by_definition(Ids ids, const models::MergeTable& merges) {
  while (true) {
    models::Merge best;
    std::size_t place = 0;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      const models::Merge merge = merges.find(ids[i], ids[i + 1]);
      if (merge.rank < best.rank) {
        best = merge;
        place = i;
      }
    }
    if (best.rank == models::Merge::kNoRank) return ids;
    ids[place] = best.result;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
}

}  // namespace

TEST_CASE("few and many symbols are merged alike, as the definition says") {
  constexpr std::uint64_t kSeed = 11;
  PhiloxStream random(kSeed);
  const auto below = [&](std::uint32_t limit) { return static_cast<std::int32_t>(random.below(limit)); };
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    // Tokens 0 to 3 are letters; every merge makes a new token of two earlier ones.
    models::MergeTable merges;
    const std::int32_t num_tokens = 5 + below(40);
    for (std::int32_t token = 4; token < num_tokens; ++token) {
      const auto limit = static_cast<std::uint32_t>(token);
      merges.set(below(limit), below(limit), {.rank = static_cast<std::uint32_t>(below(100)), .result = token});
    }
    Ids ids(static_cast<std::size_t>(below(80)));
    for (std::int32_t& id : ids) id = below(4);
    const Ids expected = merged_by_definition(ids, merges);
    CHECK(merged(models::merge_few_symbols, ids, merges) == expected);
    CHECK(merged(models::merge_many_symbols, ids, merges) == expected);
    CHECK(merged(models::merge_symbols, ids, merges) == expected);
  }
}

TEST_CASE("equal ranks are merged from the left") {
  models::MergeTable merges;
  merges.set(0, 0, {.rank = 0, .result = 1});
  CHECK(merged(models::merge_few_symbols, {0, 0, 0}, merges) == Ids{1, 0});
  CHECK(merged(models::merge_many_symbols, {0, 0, 0, 0, 0}, merges) == Ids{1, 1, 0});
}

TEST_CASE("no symbols, one symbol and an empty table are left alone") {
  models::MergeTable merges;
  for (const MergeFunction merge : {&models::merge_few_symbols, &models::merge_many_symbols}) {
    CHECK(merged(merge, {}, merges).empty());
    CHECK(merged(merge, {7}, merges) == Ids{7});
    CHECK(merged(merge, {7, 8, 9}, merges) == Ids{7, 8, 9});
  }
}

TEST_CASE("a merge table finds all of many pairs, the last of equal ones, and no others") {
  models::MergeTable merges;
  for (std::int32_t i = 0; i < 5000; ++i) merges.set(i, i * 7 % 1000, {.rank = 1, .result = i});
  for (std::int32_t i = 0; i < 5000; ++i) merges.set(i, i * 7 % 1000, {.rank = 2, .result = i + 1});
  for (std::int32_t i = 0; i < 5000; ++i) {
    CAPTURE(i);
    REQUIRE(merges.find(i, i * 7 % 1000).rank == 2);
    REQUIRE(merges.find(i, i * 7 % 1000).result == i + 1);
    REQUIRE(merges.find(i, 1000).rank == models::Merge::kNoRank);
  }
}

TEST_CASE("a token table finds texts and ids, and refuses a second use of either") {
  using Added = models::TokenTable::Added;
  models::TokenTable table;
  CHECK(!table.find("a"));
  CHECK(table.size() == 0);
  for (std::int32_t i = 0; i < 3000; ++i) REQUIRE(table.add(std::to_string(i), 2 * i) == Added::kYes);
  CHECK(table.add("7", 5) == Added::kTextTaken);
  CHECK(table.add("x", 14) == Added::kIdTaken);
  CHECK(table.add("", 5) == Added::kYes);
  for (std::int32_t i = 0; i < 3000; ++i) {
    REQUIRE(table.find(std::to_string(i)) == 2 * i);
    REQUIRE(table.text(2 * i) == std::to_string(i));
  }
  CHECK(table.find("") == 5);
  CHECK(!table.find("3000"));
  CHECK(table.size() == 5999);
  CHECK(table.num_tokens() == 3001);
  for (const std::int32_t id : {-1, 1, 5999, INT32_MAX, INT32_MIN}) {
    CHECK(!table.has(id));
    CHECK(table.text(id) == "");
  }
}

}  // namespace minitorch::test
