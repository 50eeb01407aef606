// PhiloxChooser: frequencies, edges and keys.
#include "speculative/chooser_philox.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>  // std::abs
#include <vector>

#include "minitorch/base/error.h"
#include "speculative/draft.h"

using namespace minitorch;
using namespace minitorch::spec;
using Row = std::vector<TokenProbability>;

namespace {

Row equal_weights(std::int32_t size) {
  Row row;
  for (std::int32_t id = 0; id < size; ++id) row.push_back({.id = id, .probability = 1.0 / size});
  return row;
}

// What the first ten nodes of round `committed` draw among 1000 equal weights.
std::vector<std::size_t> draws(PhiloxChooser chooser, std::int64_t committed, Purpose purpose = Purpose::kDraft) {
  chooser.begin_round(committed);
  std::vector<std::size_t> result;
  for (std::int32_t node = 0; node < 10; ++node) result.push_back(chooser.draw(node, purpose, equal_weights(1000)));
  return result;
}

// What plain sampling draws at ten positions among 1000 equal weights.
std::vector<std::size_t> samples(PhiloxChooser chooser, std::int64_t first_position = 40) {
  std::vector<std::size_t> result;
  for (int i = 0; i < 10; ++i) result.push_back(chooser.sample(first_position + i, equal_weights(1000)));
  return result;
}

}  // namespace

TEST_CASE("accept happens as often as the ratio says, always from 1 on and never at 0") {
  PhiloxChooser chooser(1);
  int accepted = 0;
  constexpr int kRounds = 100000;
  for (int round = 0; round < kRounds; ++round) {
    chooser.begin_round(round);
    accepted += chooser.accept(0, 0.3, 0.4) ? 1 : 0;
    REQUIRE(chooser.accept(1, 0.5, 0.5));
    REQUIRE(chooser.accept(2, 2.0, 0.5));
    REQUIRE_FALSE(chooser.accept(3, 0.0, 0.5));
  }
  CHECK(std::abs(accepted / double{kRounds} - 0.75) < 0.006);  // four standard deviations
}

TEST_CASE("draw and sample follow the weights, draw never gives an index of weight 0") {
  PhiloxChooser chooser(2);
  const Row weights{{0, 0.0}, {1, 3.0}, {2, 0.0}, {3, 1.0}, {4, 0.0}};
  const Row row{{1, 0.5}, {6, 0.25}, {7, 0.125}, {100001, 0.125}};
  std::array<int, 5> drawn{};
  std::array<int, 4> sampled{};
  constexpr int kRounds = 100000;
  for (int round = 0; round < kRounds; ++round) {
    chooser.begin_round(round);
    ++drawn[chooser.draw(Draft::kRoot, Purpose::kNext, weights)];
    ++sampled[chooser.sample(round, row)];
  }
  CHECK(drawn[0] + drawn[2] + drawn[4] == 0);
  CHECK(std::abs(drawn[1] / double{kRounds} - 0.75) < 0.006);
  for (std::size_t i = 0; i < row.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(sampled[i] / double{kRounds} - row[i].probability) < 0.0065);
  }
}

TEST_CASE("weights that cannot be drawn from are refused") {
  PhiloxChooser chooser(3);
  const auto draw = [&](const Row& weights) { static_cast<void>(chooser.draw(0, Purpose::kDraft, weights)); };
  CHECK_THROWS_AS(draw({}), Error);
  CHECK_THROWS_AS(draw({{0, 0.0}, {1, 0.0}}), Error);
  CHECK_THROWS_AS(draw({{0, 1.0}, {1, -1.0}}), Error);
  CHECK_THROWS_AS(static_cast<void>(chooser.sample(0, {})), Error);
  CHECK_THROWS_AS(static_cast<void>(chooser.sample(-1, equal_weights(2))), Error);
}

TEST_CASE("the same key gives the same number, and changing any part of it another") {
  const auto base = draws(PhiloxChooser(7), 40);
  CHECK(draws(PhiloxChooser(7), 40) == base);
  CHECK(draws(PhiloxChooser(8), 40) != base);
  CHECK(draws(PhiloxChooser(7 + (std::uint64_t{1} << 32)), 40) != base);
  CHECK(draws(PhiloxChooser(7, /*sample_index=*/1), 40) != base);
  CHECK(draws(PhiloxChooser(7), 41) != base);
  CHECK(draws(PhiloxChooser(7), 40, Purpose::kNext) != base);
  CHECK(base[0] != base[1]);  // nodes
  const auto sampled = samples(PhiloxChooser(7));
  CHECK(samples(PhiloxChooser(7)) == sampled);
  CHECK(samples(PhiloxChooser(8)) != sampled);
  CHECK(samples(PhiloxChooser(7 + (std::uint64_t{1} << 32))) != sampled);
  CHECK(samples(PhiloxChooser(7, /*sample_index=*/1)) != sampled);
  CHECK(samples(PhiloxChooser(7), 41)[0] == sampled[1]);
}

TEST_CASE("plain sampling at a position does not depend on the round, nor on how many numbers others used") {
  PhiloxChooser chooser(9);
  chooser.begin_round(3);
  for (std::int32_t node = 0; node < 5; ++node) static_cast<void>(chooser.accept(node, 1.0, 2.0));
  CHECK(draws(chooser, 4) == draws(PhiloxChooser(9), 4));
  CHECK(samples(chooser) == samples(PhiloxChooser(9)));
}

TEST_CASE("noise belongs to ids, not to places in a row: rows with other supports agree where they can") {
  PhiloxChooser chooser(11);
  int agreed = 0;
  constexpr int kPositions = 20000;
  for (int position = 0; position < kPositions; ++position) {
    const Row p{{2, 0.5}, {3, 0.5}};
    const Row q{{0, 0.2}, {2, 0.4}, {3, 0.4}};
    agreed += p[chooser.sample(position, p)].id == q[chooser.sample(position, q)].id ? 1 : 0;
  }
  // They differ only where q gives the id 0, which is one time in five.
  CHECK(std::abs(agreed / double{kPositions} - 0.8) < 0.0115);
}
