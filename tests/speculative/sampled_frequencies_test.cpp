// What is sampled through the speculative path has the frequencies it should: public failure reports as tests.
#include <doctest/doctest.h>

#include <array>
#include <cmath>  // std::log, std::abs
#include <vector>

#include "speculative/chooser_philox.h"
#include "tests/speculative/helpers.h"
#include "tests/support/scripted_model.h"

using namespace minitorch;
using namespace minitorch::spec;
using test::Ids;
using test::ScriptedModel;

namespace {

std::vector<float> logits_of(const std::vector<double>& probabilities) {
  std::vector<float> logits;
  for (const double p : probabilities) logits.push_back(static_cast<float>(std::log(p)));
  return logits;
}

// A model with the same logits behind every prefix.
ScriptedModel constant_model(std::int32_t max_context, const std::vector<float>& logits) {
  return {static_cast<std::int32_t>(logits.size()), max_context, [logits](ScriptedModel::Prefix, std::span<float> row) {
            std::copy(logits.begin(), logits.end(), row.begin());
          }};
}

// `count` tokens sampled with drafts of the model `draft`.
std::vector<int> counts_of(ScriptedModel& target, ScriptedModel& draft, const char* verifier, std::int32_t count) {
  const auto drafter = find_drafter("model").make({.draft_model = &draft, .target_model = &target});
  GenerateOptions options = test::options_of(count, 4);
  options.sampling = {.temperature = 1.0, .seed = 5};
  std::vector<int> counts(static_cast<std::size_t>(target.vocab_size()));
  const auto rule = find_verifier(verifier).make();
  const GenerateResult result = test::run(target, drafter.get(), Ids{0}, options, *rule);
  CHECK(result.stats.accepted > 0);
  for (const std::int32_t id : result.ids) ++counts[static_cast<std::size_t>(id)];
  return counts;
}

struct Frequencies {
  std::array<double, 4> first{};
  double acceptance = 0.0;
};

// Report B01: drafts are drawn from the two most probable tokens of their model; `honest` says so to the verifier.
Frequencies filtered_draft(bool honest) {
  constexpr int kRounds = 200000;
  const std::vector<float> target = logits_of({0.40, 0.30, 0.20, 0.10});
  const std::vector<float> draft_logits = logits_of({0.30, 0.30, 0.25, 0.15});
  models::Outputs outputs;
  std::vector<float> rows = target;
  rows.insert(rows.end(), target.begin(), target.end());
  outputs.logits = Tensor::from(rows, {2, 4});
  outputs.logits_row = {0, 1};
  const SamplingOptions sampling{.temperature = 1.0};
  const auto verifier = find_verifier("rejection").make();
  PhiloxChooser chooser(1);
  Distribution buffer;
  Verdict verdict;
  Frequencies result;
  for (int round = 0; round < kRounds; ++round) {
    chooser.begin_round(round);
    Distribution filtered = distribution(draft_logits, {.temperature = 1.0, .top_k = 2});
    Distribution raw = distribution(draft_logits, sampling);
    const std::int32_t token = filtered.tokens[chooser.draw(0, Purpose::kDraft, filtered.tokens)].id;
    Draft draft;
    draft.add_drawn(token, Draft::kRoot, honest ? filtered : raw);
    verifier->verify(draft, TargetRows(outputs, 0, sampling, buffer), chooser, verdict);
    const std::int32_t first = verdict.path.empty() ? verdict.next_token : token;
    result.first[static_cast<std::size_t>(first)] += 1.0 / kRounds;
    result.acceptance += static_cast<double>(verdict.path.size()) / kRounds;
  }
  return result;
}

}  // namespace

TEST_CASE("B01: q is what the token was drawn from, so that a filtered draft leaves the target's frequencies") {
  const Frequencies honest = filtered_draft(/*honest=*/true);
  const double expected[] = {0.40, 0.30, 0.20, 0.10};
  for (std::size_t id = 0; id < 4; ++id) {
    CAPTURE(id);
    CHECK(std::abs(honest.first[id] - expected[id]) < 0.005);
  }
  CHECK(std::abs(honest.acceptance - 0.70) < 0.005);
  // The faulty version of the report: every draft stands.
  const Frequencies faulty = filtered_draft(/*honest=*/false);
  CHECK(faulty.acceptance > 0.99);
  CHECK(std::abs(faulty.first[0] - 0.5) < 0.005);
}

TEST_CASE("B07: three equal logits at temperature 1 are sampled equally often through the speculative path") {
  for (const char* verifier : {"coupled", "rejection"}) {
    CAPTURE(verifier);
    ScriptedModel target = constant_model(3200, {0.0f, 0.0f, 0.0f});
    ScriptedModel draft = constant_model(3200, {1.0f, 0.0f, 0.5f});
    for (const int count : counts_of(target, draft, verifier, 3000)) {
      CHECK(count > 900);
      CHECK(count < 1100);
    }
  }
}

TEST_CASE(
    "B07: at temperature 0 every verifier gives the argmax, and a model that drafts for itself is never rejected") {
  for (const VerifierInfo& info : verifiers()) {
    CAPTURE(info.name);
    const auto verifier = info.make();
    ScriptedModel model = ScriptedModel::markov2(16, 64, 3);
    const auto drafter = find_drafter("model").make({.draft_model = &model, .target_model = &model});
    const GenerateResult result = test::run(model, drafter.get(), Ids{1}, test::options_of(40, 4), *verifier);
    CHECK(result.ids == test::run(model, nullptr, Ids{1}, test::options_of(40, 0)).ids);
    CHECK(result.stats.proposed > 0);
    CHECK(result.stats.accepted == result.stats.proposed);
  }
}

TEST_CASE("B14: a vocabulary of 128 rows with 90 tokens, drafted for by one of 96: padding is never sampled") {
  for (const char* verifier : {"coupled", "rejection"}) {
    CAPTURE(verifier);
    std::vector<float> target_logits(128, -1000.0f);
    target_logits[10] = target_logits[20] = 0.0f;
    target_logits[100] = 50.0f;  // of a row without a token
    ScriptedModel target = constant_model(20200, target_logits);
    target.restrict_ids({.limit = 90, .holes = {}});
    std::vector<float> draft_logits(96, -1000.0f);
    draft_logits[10] = draft_logits[30] = draft_logits[95] = 0.0f;
    ScriptedModel draft = constant_model(20200, draft_logits);
    const std::vector<int> counts = counts_of(target, draft, verifier, 20000);
    CHECK(counts[10] + counts[20] == 20000);
    CHECK(std::abs(counts[10] / 20000.0 - 0.5) < 0.01);
  }
}

TEST_CASE("every sampling setting changes what is generated, through the session that programs call") {
  ScriptedModel model = ScriptedModel::markov2(64, 256, 5);
  const auto verifier = find_verifier("coupled").make();
  const auto text_of = [&](const SamplingOptions& sampling) {
    GenerateOptions options = test::options_of(100, 0);
    options.sampling = sampling;
    return test::run(model, nullptr, Ids{1}, options, *verifier).ids;
  };
  const SamplingOptions base{.temperature = 20.0, .seed = 1};
  const Ids text = text_of(base);
  CHECK(text_of(base) == text);
  CHECK(text_of({.temperature = 10.0, .seed = 1}) != text);
  CHECK(text_of({.temperature = 20.0, .top_k = 8, .seed = 1}) != text);
  CHECK(text_of({.temperature = 20.0, .top_p = 0.5, .seed = 1}) != text);
  CHECK(text_of({.temperature = 20.0, .min_p = 0.5, .seed = 1}) != text);
  CHECK(text_of({.temperature = 20.0, .seed = 2}) != text);
}
