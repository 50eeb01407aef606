// Where the drafter `model` has to give way: ends of texts and contexts, ids that only one of both models has, errors.
#include <doctest/doctest.h>

#include "minitorch/base/error.h"
#include "tests/speculative/helpers.h"
#include "tests/support/scripted_model.h"

using namespace minitorch;
using namespace minitorch::spec;
using test::Ids;
using test::ScriptedModel;

namespace {

const Ids kPrompt{3, 1, 4, 1, 5};

std::unique_ptr<Drafter> model_drafter(models::CausalLM& draft, const models::CausalLM& target) {
  return find_drafter("model").make({.draft_model = &draft, .target_model = &target});
}

Ids propose(Drafter& drafter, const Ids& history, std::int32_t budget) {
  Draft draft;
  drafter.reset();
  drafter.propose({.history = history, .budget = budget}, draft);
  draft.validate();
  CHECK(draft.depth() == draft.size());
  return draft.tokens;
}

// Says the number of tokens before it.
ScriptedModel counter(std::int32_t vocab_size, std::int32_t max_context) {
  return ScriptedModel::from_next_token(vocab_size, max_context, [vocab_size](ScriptedModel::Prefix prefix) {
    return static_cast<std::int32_t>(prefix.size()) % vocab_size;
  });
}

}  // namespace

TEST_CASE("the drafter asks for a draft model and for its target") {
  ScriptedModel model = counter(16, 64);
  CHECK_THROWS_WITH_AS(static_cast<void>(find_drafter("model").make({})),
                       "drafter model: expected a draft model and its target, got no draft model", Error);
  CHECK_THROWS_WITH_AS(static_cast<void>(find_drafter("model").make({.draft_model = &model})),
                       "drafter model: expected a draft model and its target, got no target", Error);
}

TEST_CASE("an end token inside a draft ends the text there, and the session goes on like a fresh one") {
  const Ids stream{11, 12, 2, 13, 14, 15};
  ScriptedModel target = ScriptedModel::from_stream(16, 64, 2, stream);
  ScriptedModel draft = ScriptedModel::from_stream(16, 64, 2, stream);
  const auto drafter = model_drafter(draft, target);
  Session session(target, nullptr, drafter.get(), test::greedy());
  GenerateOptions options = test::options_of(6, 5);
  options.end_tokens = {2};
  Ids seen;
  const GenerateResult ended = session.generate(Ids{5, 6}, options, [&](const TokenEvent& event) {
    seen.push_back(event.id);
    return true;
  });
  CHECK(ended.finish_reason == FinishReason::kStop);
  CHECK(ended.ids == Ids{11, 12, 2});
  CHECK(seen == ended.ids);
  CHECK(ended.stats.accepted == 2);
  for (const Ids& prompt : {Ids{5, 6}, Ids{5, 7}}) {
    const GenerateResult whole = session.generate(prompt, test::options_of(6, 5));
    CHECK(whole.ids == stream);
    CHECK(whole.stats.accepted == whole.stats.proposed);
  }
}

TEST_CASE("an abort at any token leaves drafter and session like fresh ones") {
  ScriptedModel plain = ScriptedModel::markov2(16, 64, 9);
  const Ids expected = run(plain, nullptr, kPrompt, test::options_of(20, 0)).ids;
  ScriptedModel target = ScriptedModel::markov2(16, 64, 9);
  ScriptedModel draft = ScriptedModel::markov2(16, 64, 9);
  const auto drafter = model_drafter(draft, target);
  Session session(target, nullptr, drafter.get(), test::greedy());
  for (std::size_t stop_after = 1; stop_after <= 20; ++stop_after) {
    CAPTURE(stop_after);
    std::size_t seen = 0;
    static_cast<void>(
        session.generate(kPrompt, test::options_of(20, 4), [&](const TokenEvent&) { return ++seen < stop_after; }));
    const GenerateResult whole = session.generate(kPrompt, test::options_of(20, 4));
    CHECK(whole.ids == expected);
    CHECK(whole.stats.accepted == whole.stats.proposed);
  }
}

TEST_CASE("the context is filled to its last token, by a draft model that has the same") {
  for (const std::int32_t gamma : {1, 3, 8, 20}) {
    CAPTURE(gamma);
    ScriptedModel target = counter(100, 64);
    ScriptedModel draft = counter(100, 64);
    const auto drafter = model_drafter(draft, target);
    const GenerateResult result = run(target, drafter.get(), Ids(40, 1), test::options_of(100, gamma));
    CHECK(result.finish_reason == FinishReason::kContext);
    CHECK(result.ids.size() == 24);
    CHECK(result.ids.back() == 63);
    CHECK(result.stats.accepted == result.stats.proposed);
    CHECK(result.stats.target_passes == (23 + gamma) / (gamma + 1));
  }
}

TEST_CASE("a draft model proposes up to one token behind its own context, then nothing, and the text goes on") {
  ScriptedModel target = counter(100, 64);
  ScriptedModel draft = counter(100, 48);
  const auto drafter = model_drafter(draft, target);
  CHECK(propose(*drafter, Ids(45, 1), 8) == Ids{45, 46, 47, 48});
  CHECK(propose(*drafter, Ids(48, 1), 8) == Ids{48});
  CHECK(propose(*drafter, Ids(49, 1), 8).empty());
  CHECK(propose(*drafter, Ids(60, 1), 8).empty());
  CHECK(propose(*drafter, Ids(46, 1), 2) == Ids{46, 47});

  const GenerateResult result = run(target, drafter.get(), Ids(40, 1), test::options_of(100, 3));
  CHECK(result.finish_reason == FinishReason::kContext);
  CHECK(result.ids.size() == 24);
  CHECK(result.ids.back() == 63);
  CHECK(result.stats.accepted == result.stats.proposed);
  CHECK(result.stats.proposed == 3 + 3);  // behind 41 and 45 tokens; behind 49 none

  const std::int64_t passes = draft.num_passes();
  CHECK(run(target, drafter.get(), Ids(50, 1), test::options_of(100, 3)).stats.proposed == 0);
  CHECK(draft.num_passes() == passes);
}

TEST_CASE("a draft model with more ids proposes only those that the target can generate") {
  // The largest logits stand behind ids of the draft alone, then behind ids that the target's tokenizer lacks.
  const auto logits = [](ScriptedModel::Prefix prefix, std::span<float> row) {
    for (std::size_t id = 0; id < row.size(); ++id) row[id] = static_cast<float>((id * 3 + prefix.size()) % 5);
    for (std::size_t id = 16; id < row.size(); ++id) row[id] = 200.0f;
    row[4] = row[14] = 100.0f;
    row[2] = 150.0f;
  };
  ScriptedModel target(16, 64, logits);
  target.restrict_ids({.limit = 14, .holes = {4}});
  ScriptedModel draft(20, 64, logits);
  draft.restrict_ids({.limit = 19, .holes = {2, 17}});
  const auto drafter = model_drafter(draft, target);
  for (const std::int32_t id : propose(*drafter, kPrompt, 8)) {
    CAPTURE(id);
    CHECK(id < 14);
    CHECK(id != 4);
    CHECK(id != 2);
  }
  CHECK(draft.valid_ids().limit == 14);
  CHECK(draft.valid_ids().holes == Ids{2, 4});
  CHECK(target.valid_ids().holes == Ids{4});

  const GenerateResult plain = run(target, nullptr, kPrompt, test::options_of(20, 0));
  CHECK(run(target, drafter.get(), kPrompt, test::options_of(20, 4)).ids == plain.ids);
}

TEST_CASE(
    "a draft model with fewer ids drafts until the text holds one it cannot read, and again in the next request") {
  ScriptedModel target = counter(16, 64);
  ScriptedModel draft = counter(12, 64);
  const auto drafter = model_drafter(draft, target);
  CHECK(propose(*drafter, Ids{0, 1, 2}, 4) == Ids{3, 4, 5, 6});
  CHECK(propose(*drafter, Ids{0, 12, 2}, 4).empty());
  CHECK(propose(*drafter, Ids{0, 1, 15}, 4).empty());
  CHECK(propose(*drafter, Ids{0, 11, 2}, 4) == Ids{3, 4, 5, 6});

  Session session(target, nullptr, drafter.get(), test::greedy());
  for (int request = 0; request < 2; ++request) {
    const GenerateResult result = session.generate(Ids{0, 1, 2}, test::options_of(30, 3));
    CHECK(result.ids == run(target, nullptr, Ids{0, 1, 2}, test::options_of(30, 0)).ids);
    CHECK(result.stats.accepted == 3 + 3);  // 4 to 6 and 8 to 10; behind 11 the draft says 0, the target 12
  }
}

TEST_CASE("models without an id in common are refused") {
  ScriptedModel target = counter(16, 64);
  ScriptedModel draft = counter(16, 64);
  target.restrict_ids({.limit = 2, .holes = {0}});
  draft.restrict_ids({.limit = 16, .holes = {1}});
  CHECK_THROWS_WITH_AS(static_cast<void>(model_drafter(draft, target)),
                       "drafter model: draft and target have no id in common", Error);
}

TEST_CASE("an error of the draft model passes through and leaves drafter and session usable") {
  ScriptedModel plain = ScriptedModel::markov2(16, 64, 10);
  const Ids expected = run(plain, nullptr, kPrompt, test::options_of(20, 0)).ids;
  ScriptedModel target = ScriptedModel::markov2(16, 64, 10);
  ScriptedModel draft = ScriptedModel::markov2(16, 64, 10);
  const auto drafter = model_drafter(draft, target);
  Session session(target, nullptr, drafter.get(), test::greedy());
  for (std::size_t fail_at = 1; fail_at <= 18; ++fail_at) {
    CAPTURE(fail_at);
    Ids prefix = kPrompt;
    prefix.insert(prefix.end(), expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(fail_at));
    draft.set_nan_behind(prefix);
    // The last drafted token is not computed, so that some prefixes are never asked about.
    const bool asked = (fail_at - 1) % 5 != 4;
    const auto generate = [&] { return session.generate(kPrompt, test::options_of(20, 4)); };
    if (asked) {
      CHECK_THROWS_AS(static_cast<void>(generate()), Error);
    } else {
      CHECK(generate().ids == expected);
    }
    draft.set_nan_behind({});
    const GenerateResult whole = generate();
    CHECK(whole.ids == expected);
    CHECK(whole.stats.accepted == whole.stats.proposed);
  }
}
