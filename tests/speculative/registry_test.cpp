// Registries of drafters and verifiers, and the replay drafter.
#include <doctest/doctest.h>

#include "minitorch/base/error.h"
#include "speculative/drafters/replay.h"
#include "tests/speculative/helpers.h"
#include "tests/support/scripted_model.h"

using namespace minitorch;
using namespace minitorch::spec;

TEST_CASE("every registered drafter is found by its name, and its product carries it") {
  CHECK(drafters().size() >= 3);
  test::ScriptedModel model = test::ScriptedModel::markov2(16, 64, 1);
  for (const DrafterInfo& info : drafters()) {
    CAPTURE(info.name);
    CHECK(&find_drafter(info.name) == &info);
    CHECK_FALSE(info.summary.empty());
    const auto drafter = info.make({.draft_model = &model, .target_model = &model});
    if (drafter != nullptr) CHECK(drafter->name() == info.name);
  }
  CHECK(find_drafter("none").make({}) == nullptr);
}

TEST_CASE("every registered verifier is found by its name, is lossless, and greedy and coupled promise the same text") {
  for (const VerifierInfo& info : verifiers()) {
    CAPTURE(info.name);
    CHECK(&find_verifier(info.name) == &info);
    CHECK(info.make()->name() == info.name);
    CHECK(info.make()->lossless());
    CHECK(info.make()->same_text_as_plain({.temperature = 0.0}));
    CHECK(info.make()->same_text_as_plain({.temperature = 0.6}) == (info.name != "rejection"));
  }
  CHECK(default_verifier({.temperature = 0.0}).name == "greedy");
  CHECK(default_verifier({.temperature = 0.6}).name == "coupled");
  CHECK_THROWS_WITH_AS(find_verifier("greedy").make()->check({.temperature = 0.6}),
                       "verifier greedy: expected temperature 0, got 0.6", Error);
}

TEST_CASE("an unknown name is refused with the known ones, and replay is not among them") {
  const std::string drafter_error = "drafter: expected one of " + test::names_of(drafters()) + ", got 'replay'";
  const std::string verifier_error = "verifier: expected one of " + test::names_of(verifiers()) + ", got ''";
  CHECK_THROWS_WITH_AS(static_cast<void>(find_drafter("replay")), drafter_error.c_str(), Error);
  CHECK_THROWS_WITH_AS(static_cast<void>(find_verifier("")), verifier_error.c_str(), Error);
  CHECK(drafter_error.find("ngram") != std::string::npos);
}

TEST_CASE("the replay drafter plays its drafts in order, cut to the budget, and begins again on reset") {
  ReplayDrafter drafter({{.tokens = {5, 6, 7}, .parent = {-1, -1, 1}}, test::chain({8})});
  const test::Ids history{1};
  const auto next = [&](std::int32_t budget) {
    Draft draft;
    drafter.propose({.history = history, .budget = budget}, draft);
    return draft;
  };
  for (int request = 0; request < 2; ++request) {
    drafter.reset();
    const Draft cut = next(2);
    CHECK(cut.tokens == test::Ids{5, 6});
    CHECK(cut.parent == test::Ids{-1, -1});
    CHECK(next(4).tokens == test::Ids{8});
    CHECK(next(4).empty());
  }
}
