// A session over several requests: cache reuse, chunks of prefill, aborts in any round (B12), requests to stop.
#include <doctest/doctest.h>

#include <atomic>

#include "minitorch/base/error.h"
#include "speculative/drafters/replay.h"
#include "tests/speculative/helpers.h"
#include "tests/support/scripted_model.h"

using namespace minitorch;
using namespace minitorch::spec;
using test::Ids;
using test::ScriptedModel;

namespace {

constexpr std::uint64_t kSeed = 77;

ScriptedModel make_model() { return ScriptedModel::markov2(16, 64, kSeed); }

const Ids kPrompt{3, 1, 4, 1, 5};

Ids expected_ids(const Ids& prompt, std::int32_t count) {
  ScriptedModel model = make_model();
  return run(model, nullptr, prompt, test::options_of(count, 0)).ids;
}

}  // namespace

TEST_CASE("the chunking of the prompt changes nothing") {
  const Ids prompt{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  for (const std::int32_t chunk : {1, 2, 3, 5, 10, 11, 12, 1000}) {
    CAPTURE(chunk);
    ScriptedModel model = make_model();
    GenerateOptions options = test::options_of(10, 0);
    options.prefill_chunk = chunk;
    CHECK(run(model, nullptr, prompt, options).ids == expected_ids(prompt, 10));
    CHECK(model.num_rows() == 11 + 9);
    CHECK(model.num_passes() == (11 + chunk - 1) / chunk + 9);
  }
}

TEST_CASE("a further turn computes only what follows the common prefix with the cache") {
  ScriptedModel model = make_model();
  const auto drafter = find_drafter("ngram").make({});
  Session session(model, nullptr, drafter.get(), test::greedy());
  const GenerateResult first = session.generate(kPrompt, test::options_of(12, 4));
  CHECK(first.stats.reused_tokens == 0);
  Ids prompt = kPrompt;
  prompt.insert(prompt.end(), first.ids.begin(), first.ids.end());
  prompt.insert(prompt.end(), {7, 7});
  const std::int32_t cached = session.cache().length();
  CHECK(cached >= 16);  // all but the last token, which was never computed
  const GenerateResult second = session.generate(prompt, test::options_of(12, 4));
  CHECK(second.stats.reused_tokens == cached);
  CHECK(second.stats.prompt_tokens == static_cast<std::int64_t>(prompt.size()));
  CHECK(second.ids == expected_ids(prompt, 12));
}

TEST_CASE("the same prompt again computes its last token only, and reset makes it start over") {
  ScriptedModel model = make_model();
  Session session(model, nullptr, nullptr, test::greedy());
  const Ids ids = session.generate(kPrompt, test::options_of(8, 0)).ids;
  std::int64_t rows = model.num_rows();
  CHECK(session.generate(kPrompt, test::options_of(8, 0)).ids == ids);
  CHECK(model.num_rows() - rows == 1 + 7);
  session.reset();
  rows = model.num_rows();
  CHECK(session.generate(kPrompt, test::options_of(8, 0)).stats.reused_tokens == 0);
  CHECK(model.num_rows() - rows == 5 + 7);
}

TEST_CASE("every request begins with a drafter that has forgotten the former one") {
  ScriptedModel model = ScriptedModel::from_stream(16, 64, 2, {1, 2, 3, 4, 5, 6});
  ReplayDrafter drafter({test::chain({2, 3, 4})});
  Session session(model, nullptr, &drafter, test::greedy());
  for (int request = 0; request < 2; ++request) {
    CHECK(session.generate(Ids{7, 8}, test::options_of(6, 3)).stats.accepted == 3);
  }
}

TEST_CASE("an edited earlier message is computed again from the point of difference") {
  ScriptedModel model = make_model();
  Session session(model, nullptr, nullptr, test::greedy());
  static_cast<void>(session.generate(kPrompt, test::options_of(8, 0)));
  const Ids edited{3, 1, 9, 1, 5, 2};
  const GenerateResult result = session.generate(edited, test::options_of(8, 0));
  CHECK(result.stats.reused_tokens == 2);
  CHECK(result.ids == expected_ids(edited, 8));
  const Ids shorter{3, 1};
  CHECK(session.generate(shorter, test::options_of(8, 0)).ids == expected_ids(shorter, 8));
}

TEST_CASE("B12: after an abort at any token the session answers like a fresh one") {
  const Ids expected = expected_ids(kPrompt, 20);
  for (std::size_t stop_after = 1; stop_after <= 20; ++stop_after) {
    CAPTURE(stop_after);
    ScriptedModel model = make_model();
    const auto drafter = find_drafter("ngram").make({});
    Session session(model, nullptr, drafter.get(), test::greedy());
    Ids seen;
    const GenerateResult cut = session.generate(kPrompt, test::options_of(20, 4), [&](const TokenEvent& event) {
      seen.push_back(event.id);
      return seen.size() < stop_after;
    });
    CHECK(cut.finish_reason == (stop_after < 20 ? FinishReason::kAborted : FinishReason::kLength));
    CHECK(cut.ids == Ids(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(stop_after)));
    CHECK(seen == cut.ids);
    CHECK(cut.stats.tokens == static_cast<std::int64_t>(stop_after));
    CHECK(session.generate(kPrompt, test::options_of(20, 4)).ids == expected);
    const Ids other{2, 7};
    CHECK(session.generate(other, test::options_of(20, 4)).ids == expected_ids(other, 20));
  }
}

TEST_CASE("B12: an abort where one token of context is left, after a fully accepted round, leaves a usable session") {
  const auto count = [](ScriptedModel::Prefix prefix) { return static_cast<std::int32_t>(prefix.size() % 16); };
  ScriptedModel model = ScriptedModel::from_next_token(16, 24, count);
  std::vector<std::int32_t> budgets;
  test::FunctionDrafter drafter([&](std::span<const std::int32_t> history, std::int32_t budget, Draft& draft) {
    budgets.push_back(budget);
    for (std::int32_t i = 0; i < budget; ++i)
      draft.add(static_cast<std::int32_t>(history.size() + static_cast<std::size_t>(i)) % 16, i - 1);
  });
  Session session(model, nullptr, &drafter, test::greedy());
  const Ids prompt{0, 1, 2, 3};
  // Context 24, prompt 4: one token from prefill, then rounds of 9, 9 and one token.
  int tokens = 0;
  const GenerateResult cut =
      session.generate(prompt, test::options_of(100, 8), [&](const TokenEvent&) { return ++tokens < 19; });
  CHECK(cut.finish_reason == FinishReason::kAborted);
  CHECK(budgets == Ids{8, 8});
  const GenerateResult whole = session.generate(prompt, test::options_of(100, 8));
  CHECK(whole.finish_reason == FinishReason::kContext);
  CHECK(whole.ids.size() == 20);
  CHECK(whole.ids.back() == 23 % 16);
}

TEST_CASE("an exception from the callback passes through and leaves the session usable") {
  ScriptedModel model = make_model();
  const auto drafter = find_drafter("ngram").make({});
  Session session(model, nullptr, drafter.get(), test::greedy());
  for (int fail_at = 1; fail_at <= 12; ++fail_at) {
    CAPTURE(fail_at);
    int tokens = 0;
    CHECK_THROWS_WITH_AS(session.generate(kPrompt, test::options_of(20, 4),
                                          [&](const TokenEvent&) {
                                            if (++tokens == fail_at) throw Error("the client is gone");
                                            return true;
                                          }),
                         "the client is gone", Error);
    CHECK(session.generate(kPrompt, test::options_of(20, 4)).ids == expected_ids(kPrompt, 20));
  }
}

TEST_CASE("stop_requested is noticed before every pass, prefill included") {
  ScriptedModel model = make_model();
  Session session(model, nullptr, nullptr, test::greedy());
  std::atomic<bool> stop = true;
  GenerateOptions options = test::options_of(20, 0);
  options.stop_requested = &stop;
  const GenerateResult none = session.generate(kPrompt, options);
  CHECK(none.ids.empty());
  CHECK(none.finish_reason == FinishReason::kAborted);
  CHECK(none.stats.generations == 0);
  CHECK_FALSE(none.stats.tokens_per_pass().has_value());
  CHECK(model.num_passes() == 0);

  stop = false;
  int tokens = 0;
  const GenerateResult some = session.generate(kPrompt, options, [&](const TokenEvent&) {
    stop = ++tokens == 7;
    return true;
  });
  CHECK(some.ids.size() == 7);
  CHECK(some.finish_reason == FinishReason::kAborted);
  stop = false;
  CHECK(session.generate(kPrompt, options).ids == expected_ids(kPrompt, 20));
}
