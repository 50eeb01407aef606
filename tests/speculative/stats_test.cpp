// GenerationStats: rates, what is absent, and sums.
#include "speculative/stats.h"

#include <doctest/doctest.h>

using minitorch::spec::GenerationStats;

TEST_CASE("rates leave out the first token and are absent where there is nothing to divide by") {
  GenerationStats stats;
  CHECK_FALSE(stats.acceptance_rate().has_value());
  CHECK_FALSE(stats.tokens_per_pass().has_value());
  CHECK_FALSE(stats.nodes_per_pass().has_value());
  CHECK_FALSE(stats.depth_per_pass().has_value());
  CHECK_FALSE(stats.tokens_per_s().has_value());
  stats = {.generations = 1,
           .tokens = 12,
           .target_passes = 4,
           .proposed = 15,
           .drafted_depth = 10,
           .accepted = 8,
           .decode_s = 0.5};
  CHECK(stats.acceptance_rate().value() == doctest::Approx(8.0 / 15.0));
  CHECK(stats.tokens_per_pass().value() == doctest::Approx(2.75));
  CHECK(stats.nodes_per_pass().value() == doctest::Approx(3.75));
  CHECK(stats.depth_per_pass().value() == doctest::Approx(2.5));
  CHECK(stats.tokens_per_s().value() == doctest::Approx(22.0));
}

TEST_CASE("a generation that ended with its first token has no rates") {
  const GenerationStats stats{.generations = 1, .tokens = 1, .decode_s = 1e-9};
  CHECK_FALSE(stats.tokens_per_pass().has_value());
  CHECK_FALSE(stats.tokens_per_s().has_value());
}

TEST_CASE("the sum of generations leaves out the first token of each") {
  GenerationStats total;
  total += {.generations = 1,
            .prompt_tokens = 5,
            .reused_tokens = 1,
            .tokens = 12,
            .target_passes = 4,
            .proposed = 15,
            .drafted_depth = 10,
            .accepted = 8,
            .rows = 19,
            .prefill_s = 1.0,
            .decode_s = 2.0,
            .draft_s = 0.25,
            .verify_s = 1.5};
  total += {.generations = 1,
            .prompt_tokens = 7,
            .reused_tokens = 2,
            .tokens = 2,
            .target_passes = 1,
            .proposed = 1,
            .drafted_depth = 1,
            .accepted = 0,
            .rows = 2,
            .prefill_s = 0.5,
            .decode_s = 1.0,
            .draft_s = 0.25,
            .verify_s = 0.5};
  CHECK(total.generations == 2);
  CHECK(total.prompt_tokens == 12);
  CHECK(total.reused_tokens == 3);
  CHECK(total.tokens == 14);
  CHECK(total.drafted_depth == 11);
  CHECK(total.rows == 21);
  CHECK(total.prefill_s == doctest::Approx(1.5));
  CHECK(total.draft_s == doctest::Approx(0.5));
  CHECK(total.verify_s == doctest::Approx(2.0));
  CHECK(total.acceptance_rate().value() == doctest::Approx(0.5));
  CHECK(total.tokens_per_pass().value() == doctest::Approx(12.0 / 5.0));
  CHECK(total.tokens_per_s().value() == doctest::Approx(4.0));
}
