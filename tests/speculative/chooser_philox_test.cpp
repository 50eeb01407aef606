// PhiloxChooser: frequencies, edges and keys.
#include "speculative/chooser_philox.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>  // std::abs
#include <vector>

#include "minitorch/base/error.h"

using minitorch::Error;
using minitorch::spec::PhiloxChooser;

namespace {

// The first ten draws of round `committed` among 1000 equal weights.
std::vector<std::int32_t> draws(PhiloxChooser chooser, std::int64_t committed) {
  const std::vector<double> weights(1000, 1.0);
  chooser.begin_round(committed);
  std::vector<std::int32_t> result;
  for (int i = 0; i < 10; ++i) result.push_back(chooser.draw(weights));
  return result;
}

}  // namespace

TEST_CASE("accept happens as often as the ratio says, always from 1 on and never at 0") {
  PhiloxChooser chooser(1);
  int accepted = 0;
  constexpr int kRounds = 100000;
  for (int round = 0; round < kRounds; ++round) {
    chooser.begin_round(round);
    accepted += chooser.accept(0.3, 0.4) ? 1 : 0;
    REQUIRE(chooser.accept(0.5, 0.5));
    REQUIRE(chooser.accept(2.0, 0.5));
    REQUIRE_FALSE(chooser.accept(0.0, 0.5));
  }
  CHECK(std::abs(accepted / double{kRounds} - 0.75) < 0.006);  // four standard deviations
}

TEST_CASE("draw follows the weights and never gives an index of weight 0") {
  PhiloxChooser chooser(2);
  const std::vector<double> weights{0.0, 3.0, 0.0, 1.0, 0.0};
  std::array<int, 5> count{};
  constexpr int kRounds = 100000;
  for (int round = 0; round < kRounds; ++round) {
    chooser.begin_round(round);
    ++count[static_cast<std::size_t>(chooser.draw(weights))];
  }
  CHECK(count[0] + count[2] + count[4] == 0);
  CHECK(std::abs(count[1] / double{kRounds} - 0.75) < 0.006);
}

TEST_CASE("weights that cannot be drawn from are refused") {
  PhiloxChooser chooser(3);
  CHECK_THROWS_AS(static_cast<void>(chooser.draw({})), Error);
  CHECK_THROWS_AS(static_cast<void>(chooser.draw(std::vector<double>{0.0, 0.0})), Error);
  CHECK_THROWS_AS(static_cast<void>(chooser.draw(std::vector<double>{1.0, -1.0})), Error);
}

TEST_CASE("the same seed, sample and round give the same numbers, and changing any of them changes them") {
  const auto base = draws(PhiloxChooser(7), 40);
  CHECK(draws(PhiloxChooser(7), 40) == base);
  CHECK(draws(PhiloxChooser(8), 40) != base);
  CHECK(draws(PhiloxChooser(7 + (std::uint64_t{1} << 32)), 40) != base);
  CHECK(draws(PhiloxChooser(7, /*sample_index=*/1), 40) != base);
  CHECK(draws(PhiloxChooser(7), 41) != base);
}

TEST_CASE("a round does not depend on how many numbers the round before it used") {
  PhiloxChooser chooser(9);
  chooser.begin_round(3);
  for (int i = 0; i < 5; ++i) static_cast<void>(chooser.accept(1.0, 2.0));
  CHECK(draws(chooser, 4) == draws(PhiloxChooser(9), 4));
}
