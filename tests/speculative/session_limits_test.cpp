// Where a text ends: end tokens inside a block (B10), the token limit, the context (B12), and requests that are
// refused.
#include <doctest/doctest.h>

#include "minitorch/base/error.h"
#include "speculative/drafters/replay.h"
#include "tests/speculative/helpers.h"
#include "tests/support/scripted_model.h"

using namespace minitorch;
using namespace minitorch::spec;
using test::Ids;
using test::ScriptedModel;

namespace {

const Ids kStream{11, 12, 2, 13, 14, 15};

// A drafter that knows the stream behind a prompt of two tokens.
test::FunctionDrafter stream_drafter(Ids stream) {
  return test::FunctionDrafter(
      [stream = std::move(stream)](std::span<const std::int32_t> history, std::int32_t budget, Draft& draft) {
        for (std::int32_t i = 0; i < budget && history.size() - 2 + static_cast<std::size_t>(i) < stream.size(); ++i) {
          draft.add(stream[history.size() - 2 + static_cast<std::size_t>(i)], i - 1);
        }
      });
}

GenerateResult run_stream(const Ids& end_tokens, Ids* seen = nullptr, Session* reuse = nullptr) {
  ScriptedModel model = ScriptedModel::from_stream(16, 64, 2, kStream);
  test::FunctionDrafter drafter = stream_drafter(kStream);
  Session fresh(model, nullptr, &drafter, test::greedy());
  Session& session = reuse != nullptr ? *reuse : fresh;
  GenerateOptions options = test::options_of(40, 5);
  options.end_tokens = end_tokens;
  return session.generate(Ids{5, 6}, options, [&](const TokenEvent& event) {
    if (seen != nullptr) seen->push_back(event.id);
    return true;
  });
}

ScriptedModel counting_model(std::int32_t context) {
  return ScriptedModel::from_next_token(
      64, context, [](ScriptedModel::Prefix prefix) { return static_cast<std::int32_t>(prefix.size() % 64); });
}

// Continues counting: every draft is right.
test::FunctionDrafter counting_drafter() {
  return test::FunctionDrafter([](std::span<const std::int32_t> history, std::int32_t budget, Draft& draft) {
    for (std::int32_t i = 0; i < budget; ++i) {
      draft.add(static_cast<std::int32_t>((history.size() + static_cast<std::size_t>(i)) % 64), i - 1);
    }
  });
}

}  // namespace

TEST_CASE("B10: an end token inside an accepted block ends the text there, and nothing behind it is seen or counted") {
  Ids seen;
  const GenerateResult result = run_stream({2}, &seen);
  CHECK(result.ids == Ids{11, 12, 2});
  CHECK(seen == Ids{11, 12, 2});
  CHECK(result.finish_reason == FinishReason::kStop);
  CHECK(result.stats.tokens == 3);
  CHECK(result.stats.target_passes == 1);
  CHECK(result.stats.proposed == 5);
  CHECK(result.stats.accepted == 2);  // 12 and the end token itself
}

TEST_CASE("B10: what stood behind the end token is not left in the cache") {
  ScriptedModel model = ScriptedModel::from_stream(16, 64, 2, kStream);
  test::FunctionDrafter drafter = stream_drafter(kStream);
  Session session(model, nullptr, &drafter, test::greedy());
  static_cast<void>(run_stream({2}, nullptr, &session));
  const auto tokens = session.cache().tokens();
  CHECK(Ids(tokens.begin(), tokens.end()) == Ids{5, 6, 11, 12, 2});
  CHECK(session.cache().num_pending() == 0);
}

TEST_CASE("B10: each of several end tokens ends the text, wherever in the block it stands") {
  for (std::size_t at = 0; at < kStream.size(); ++at) {
    CAPTURE(at);
    const GenerateResult result = run_stream({15, 99, kStream[at]});
    CHECK(result.ids == Ids(kStream.begin(), kStream.begin() + static_cast<std::ptrdiff_t>(at) + 1));
    CHECK(result.finish_reason == FinishReason::kStop);
  }
}

TEST_CASE("B10: an end token that is drafted but rejected does not end the text") {
  ScriptedModel model = ScriptedModel::from_stream(16, 64, 2, {11, 12, 13, 14});
  ReplayDrafter drafter({test::chain({2, 2}), test::chain({13, 2})});
  GenerateOptions options = test::options_of(4, 5);
  options.end_tokens = {2};
  const GenerateResult result = run(model, &drafter, {5, 6}, options);
  CHECK(result.ids == Ids{11, 12, 13, 14});
  CHECK(result.finish_reason == FinishReason::kLength);
}

TEST_CASE("the token limit is kept exactly for every limit and draft length, with right and with useless drafts") {
  for (std::int32_t gamma = 1; gamma <= 8; ++gamma) {
    for (std::int32_t limit = 1; limit <= 2 * gamma + 1; ++limit) {
      CAPTURE(gamma);
      CAPTURE(limit);
      ScriptedModel model = counting_model(64);
      test::FunctionDrafter right = counting_drafter();
      const GenerateResult result = run(model, &right, {0, 1, 2}, test::options_of(limit, gamma));
      CHECK(result.ids.size() == static_cast<std::size_t>(limit));
      CHECK(result.stats.tokens == limit);
      CHECK(result.finish_reason == FinishReason::kLength);
      ReplayDrafter useless(std::vector<Draft>(20, test::chain(Ids(8, 63))));
      CHECK(run(model, &useless, {0, 1, 2}, test::options_of(limit, gamma)).ids == result.ids);
    }
  }
}

TEST_CASE("B12: drafting stops at the end of the context") {
  for (std::int32_t prompt_size : {40, 57, 62, 63}) {
    CAPTURE(prompt_size);
    ScriptedModel model = counting_model(64);
    test::FunctionDrafter drafter = counting_drafter();
    Session session(model, nullptr, &drafter, test::greedy());
    const GenerateResult result =
        session.generate(Ids(static_cast<std::size_t>(prompt_size), 1), test::options_of(24, 8));
    CHECK(result.stats.tokens == std::min(24, 64 - prompt_size));
    CHECK(result.finish_reason == (prompt_size == 40 ? FinishReason::kLength : FinishReason::kContext));
    CHECK(session.cache().length() <= 63);
  }
}

TEST_CASE(
    "B12: a context that fills up ends with the reason context, and a limit reached at the same time with length") {
  ScriptedModel model = counting_model(10);
  CHECK(run(model, nullptr, {0, 1, 2}, test::options_of(100, 0)).finish_reason == FinishReason::kContext);
  CHECK(run(model, nullptr, {0, 1, 2}, test::options_of(7, 0)).finish_reason == FinishReason::kLength);
  CHECK(run(model, nullptr, {0, 1, 2}, test::options_of(8, 0)).ids.size() == 7);
}

TEST_CASE("an empty prompt and one that leaves no room in the context are refused") {
  ScriptedModel model = counting_model(64);
  Session session(model, nullptr, nullptr, test::greedy());
  const GenerateOptions options = test::options_of(4, 0);
  CHECK_THROWS_WITH_AS(session.generate({}, options),
                       "generate: expected a prompt of at least one token, got an empty one", Error);
  for (const std::size_t size : {std::size_t{64}, std::size_t{65}, std::size_t{1000}}) {
    CAPTURE(size);
    CHECK_THROWS_AS(session.generate(Ids(size, 1), options), Error);
  }
  CHECK_THROWS_WITH(
      session.generate(Ids(70, 1), options),
      "generate: the prompt has 70 tokens, expected at most 63 (the model's context of 64 less one new token)");
  CHECK(session.generate(Ids(60, 1), options).ids.size() == 4);  // the session is usable afterwards
}

TEST_CASE("options that make no sense are refused") {
  ScriptedModel model = counting_model(64);
  Session session(model, nullptr, nullptr, test::greedy());
  const auto refused = [&](auto change) {
    GenerateOptions options = test::options_of(4, 4);
    change(options);
    CHECK_THROWS_AS(session.generate(Ids{1}, options), Error);
  };
  refused([](GenerateOptions& options) { options.max_new_tokens = 0; });
  refused([](GenerateOptions& options) { options.gamma = -1; });
  refused([](GenerateOptions& options) { options.prefill_chunk = 0; });
  refused([](GenerateOptions& options) { options.stop_strings = {"x"}; });  // there is no tokenizer
  GenerateOptions options = test::options_of(4, 4);
  options.sampling.temperature = 0.6;
  CHECK_THROWS_WITH_AS(session.generate(Ids{1}, options), "verifier greedy: expected temperature 0, got 0.6", Error);
}

TEST_CASE("a token outside the vocabulary, in the prompt or in a draft, is an error and leaves the session usable") {
  ScriptedModel model = counting_model(64);
  ReplayDrafter drafter({test::chain({3, 64})});
  Session session(model, nullptr, &drafter, test::greedy());
  CHECK_THROWS_AS(session.generate(Ids{1, 64}, test::options_of(4, 2)), Error);
  CHECK_THROWS_AS(session.generate(Ids{1, -1}, test::options_of(4, 2)), Error);
  CHECK_THROWS_AS(session.generate(Ids{1, 2}, test::options_of(6, 4)), Error);  // the draft's
  CHECK(session.generate(Ids{1, 2}, test::options_of(6, 0)).ids == Ids{2, 3, 4, 5, 6, 7});
}

TEST_CASE("a drafter that exceeds its budget or proposes no tree is an error that names it") {
  ScriptedModel model = counting_model(64);
  test::FunctionDrafter greedy_for_more([](std::span<const std::int32_t>, std::int32_t budget, Draft& draft) {
    for (std::int32_t i = 0; i <= budget; ++i) draft.add(1, i - 1);
  });
  CHECK_THROWS_WITH_AS(run(model, &greedy_for_more, {1}, test::options_of(9, 4)),
                       "drafter function: expected at most 4 nodes, got 5", Error);
  test::FunctionDrafter no_tree([](std::span<const std::int32_t>, std::int32_t, Draft& draft) { draft.add(1, 3); });
  CHECK_THROWS_AS(run(model, &no_tree, {1}, test::options_of(9, 4)), Error);
}

TEST_CASE("NaN logits are an error in prefill and in a draft, and the session is usable afterwards") {
  ScriptedModel model = counting_model(64);
  test::FunctionDrafter drafter = counting_drafter();
  Session session(model, nullptr, &drafter, test::greedy());
  const Ids expected = session.generate(Ids{0, 1, 2}, test::options_of(8, 4)).ids;
  model.set_nan_behind({0, 1, 2});
  CHECK_THROWS_AS(session.generate(Ids{0, 1, 2}, test::options_of(8, 4)), Error);
  model.set_nan_behind({0, 1, 2, 3, 4, 5});
  CHECK_THROWS_AS(session.generate(Ids{0, 1, 2}, test::options_of(8, 4)), Error);
  model.set_nan_behind({});
  CHECK(session.generate(Ids{0, 1, 2}, test::options_of(8, 4)).ids == expected);
}
