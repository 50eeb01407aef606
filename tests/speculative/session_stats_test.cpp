// What a session counts, checked by hand on scripted rounds (B53).
#include <doctest/doctest.h>

#include <chrono>
#include <thread>  // std::this_thread

#include "speculative/drafters/replay.h"
#include "tests/speculative/helpers.h"
#include "tests/support/scripted_model.h"

using namespace minitorch;
using namespace minitorch::spec;
using test::Ids;
using test::ScriptedModel;

namespace {

std::vector<TokenOrigin> origins_of(ScriptedModel& model, Drafter& drafter, const GenerateOptions& options,
                                    GenerateResult& result) {
  std::vector<TokenOrigin> origins;
  Session session(model, nullptr, &drafter, test::greedy());
  result = session.generate(Ids{5, 6}, options, [&](const TokenEvent& event) {
    origins.push_back(event.origin);
    return true;
  });
  return origins;
}

}  // namespace

TEST_CASE("B53: rounds of 4 of 4 with bonus, 0 of 4, 2 of 4, and 3 of 3 whose second is the end") {
  // Token 20 comes from prefill; the rounds yield 21-25, 26, 27-29, and 30 with the end token 2.
  ScriptedModel model =
      ScriptedModel::from_stream(64, 64, 2, {20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 2, 31, 32, 33});
  ReplayDrafter drafter({test::chain({21, 22, 23, 24}), test::chain({40, 41, 42, 43}), test::chain({27, 28, 40, 41}),
                         test::chain({30, 2, 31})});
  GenerateOptions options = test::options_of(40, 4);
  options.end_tokens = {2};
  GenerateResult result;
  const std::vector<TokenOrigin> origins = origins_of(model, drafter, options, result);
  CHECK(result.ids == Ids{20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 2});
  CHECK(result.finish_reason == FinishReason::kStop);
  const GenerationStats& stats = result.stats;
  CHECK(stats.prompt_tokens == 2);
  CHECK(stats.tokens == 12);
  CHECK(stats.pass_tokens() == 11);  // "emitted" of the case: the first token is prefill's
  CHECK(stats.target_passes == 4);
  CHECK(stats.proposed == 15);
  CHECK(stats.drafted_depth == 15);  // chains
  CHECK(stats.accepted == 8);
  CHECK(stats.rows == 15 + 4);
  CHECK(stats.acceptance_rate().value() == doctest::Approx(0.5333).epsilon(0.001));
  CHECK(stats.tokens_per_pass().value() == doctest::Approx(2.75));
  using enum TokenOrigin;
  CHECK(origins == std::vector{kPrefill, kAccepted, kAccepted, kAccepted, kAccepted, kBonus, kCorrected, kAccepted,
                               kAccepted, kCorrected, kAccepted, kAccepted});
}

TEST_CASE("in a tree the token behind an accepted leaf is a bonus, behind a node with rejected children a correction") {
  ScriptedModel model = ScriptedModel::from_stream(64, 64, 2, {20, 21, 22, 23, 24, 25});
  ReplayDrafter drafter({{.tokens = {30, 21, 31, 22}, .parent = {-1, -1, 0, 1}},  // 21, 22 stand, then a bonus
                         {.tokens = {24, 40}, .parent = {-1, 0}}});               // 24 stands, 40 is corrected
  GenerateResult result;
  const std::vector<TokenOrigin> origins = origins_of(model, drafter, test::options_of(6, 4), result);
  CHECK(result.ids == Ids{20, 21, 22, 23, 24, 25});
  using enum TokenOrigin;
  CHECK(origins == std::vector{kPrefill, kAccepted, kAccepted, kBonus, kAccepted, kBonus});
  CHECK(result.stats.drafted_depth == 2 + 1);
  CHECK(result.stats.proposed == 4 + 1);  // the last round has room for one draft token only
  CHECK(result.stats.accepted == 3);
}

TEST_CASE("the figures of random tree rounds add up") {
  for (int table = 0; table < 10; ++table) {
    CAPTURE(table);
    const auto seed = static_cast<std::uint64_t>(table);
    ScriptedModel model = ScriptedModel::markov2(16, 64, seed);
    const Ids plain = run(model, nullptr, {1, 2}, test::options_of(40, 0)).ids;
    const std::int64_t rows_before = model.num_rows();
    PhiloxStream random(seed);
    ReplayDrafter drafter(test::plan_trees(random, plain, 6, 16));
    const GenerateResult result = run(model, &drafter, {1, 2}, test::options_of(40, 6));
    const GenerationStats& stats = result.stats;
    CHECK(stats.tokens == 1 + stats.target_passes + stats.accepted);  // each pass yields one token of the target's own
    CHECK(stats.rows == stats.target_passes + stats.proposed);
    CHECK(model.num_rows() - rows_before == stats.prompt_tokens + stats.rows);
    CHECK(stats.accepted <= stats.proposed);
    CHECK(stats.draft_s + stats.verify_s <= stats.decode_s);
    CHECK(stats.prefill_s > 0.0);
    CHECK(stats.generations == 1);
  }
}

TEST_CASE("a session teaches a cost curve the time of its passes, by their number of rows") {
  std::vector<std::int32_t> stream;
  for (std::int32_t id = 20; id < 60; ++id) stream.push_back(id);
  ScriptedModel model = ScriptedModel::from_stream(64, 64, 2, stream);
  constexpr double kHours = 1e7;  // no pass of the script takes that long
  models::CostCurve curve({{1, kHours}, {2, kHours}, {4, kHours}});
  ReplayDrafter drafter({test::chain({21}), test::chain({23}), test::chain({25})});  // then nothing is drafted
  GenerateOptions options = test::options_of(12, 4);
  options.pass_cost = &curve;
  Session session(model, nullptr, &drafter, test::greedy());
  const GenerateResult result = session.generate(Ids{5, 6}, options);
  CHECK(result.stats.target_passes > 6);
  CHECK(curve.ms(1) < kHours / 2);
  CHECK(curve.ms(2) < kHours / 2);
  CHECK(curve.ms(4) < kHours / 2);  // by the ratio
  CHECK(curve.points()[0].ms == kHours);
}

TEST_CASE("the time a callback takes is not decode time") {
  ScriptedModel model = ScriptedModel::markov2(16, 64, 1);
  Session session(model, nullptr, nullptr, test::greedy());
  constexpr auto kPause = std::chrono::milliseconds(50);
  const GenerateResult result = session.generate(Ids{1, 2}, test::options_of(10, 0), [&](const TokenEvent&) {
    std::this_thread::sleep_for(kPause);
    return true;
  });
  CHECK(result.stats.decode_s > 0.0);
  CHECK(result.stats.decode_s < 9 * 0.050);  // nine passes of microseconds each; with the pauses it would be more
}
