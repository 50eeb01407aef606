// Above temperature 0 "coupled" gives the very text of plain sampling with the same seed (rule E5), for every drafter.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "speculative/drafters/replay.h"
#include "tests/speculative/helpers.h"
#include "tests/support/scripted_model.h"
#include "tests/support/skips.h"  // report_result

using namespace minitorch;
using namespace minitorch::spec;
using test::Ids;
using test::ScriptedModel;

namespace {

constexpr std::int32_t kVocab = 16;
constexpr std::int32_t kTokens = 40;
const Ids kPrompt{3, 1, 4};

const SamplingOptions kSettings[] = {{.temperature = 0.6, .top_p = 0.95, .seed = 1},
                                     {.temperature = 1.0, .seed = 2},
                                     {.temperature = 15.0, .top_k = 5, .seed = 3},
                                     {.temperature = 25.0, .min_p = 0.3, .seed = 4},
                                     {.temperature = 0.0, .seed = 5}};

ScriptedModel table_model(std::uint64_t table) { return ScriptedModel::markov2(kVocab, 64, table); }

GenerateOptions options_of(std::int32_t gamma, const SamplingOptions& sampling) {
  GenerateOptions options = test::options_of(kTokens, gamma);
  options.sampling = sampling;
  return options;
}

Ids text_of(models::CausalLM& model, Drafter* drafter, std::int32_t gamma, const SamplingOptions& sampling) {
  const auto verifier = find_verifier("coupled").make();
  return test::run(model, drafter, kPrompt, options_of(gamma, sampling), *verifier).ids;
}

}  // namespace

TEST_CASE("20 order-2 Markov tables, every drafter, gamma 1 to 8, 5 settings: coupled is plain sampling") {
  const auto verifier = find_verifier("coupled").make();
  int runs = 0;
  std::int64_t accepted = 0;
  for (std::uint64_t table = 0; table < 20; ++table) {
    ScriptedModel target = table_model(table);
    ScriptedModel draft = table_model(table + table % 2);  // the target itself, or another
    for (const SamplingOptions& sampling : kSettings) {
      const Ids plain = text_of(target, nullptr, 0, sampling);
      for (const DrafterInfo& info : drafters()) {
        const auto drafter = info.make({.draft_model = &draft, .target_model = &target});
        for (std::int32_t gamma = 1; gamma <= 8; ++gamma) {
          CAPTURE(table);
          CAPTURE(sampling.seed);
          CAPTURE(info.name);
          CAPTURE(gamma);
          const GenerateResult result =
              test::run(target, drafter.get(), kPrompt, options_of(gamma, sampling), *verifier);
          CHECK(result.ids == plain);
          accepted += result.stats.accepted;
          ++runs;
        }
      }
    }
  }
  test::report_result(fmt::format("coupled: {} runs against plain sampling, {} draft tokens accepted", runs, accepted));
  CHECK(accepted > 10000);
}

TEST_CASE("random trees around the sampled text change nothing either") {
  PhiloxStream random(9);
  for (std::uint64_t table = 0; table < 10; ++table) {
    ScriptedModel target = table_model(table);
    for (const SamplingOptions& sampling : kSettings) {
      const Ids plain = text_of(target, nullptr, 0, sampling);
      for (const std::int32_t gamma : {2, 7, 24}) {
        CAPTURE(table);
        CAPTURE(gamma);
        ReplayDrafter drafter(test::plan_trees(random, plain, gamma, kVocab));
        CHECK(text_of(target, &drafter, gamma, sampling) == plain);
      }
    }
  }
}

TEST_CASE("a draft model that is the target drafts exactly what coupled sampling takes") {
  ScriptedModel model = table_model(7);
  const auto drafter = find_drafter("model").make({.draft_model = &model, .target_model = &model});
  const auto verifier = find_verifier("coupled").make();
  for (const SamplingOptions& sampling : kSettings) {
    CAPTURE(sampling.seed);
    const GenerateResult result = test::run(model, drafter.get(), kPrompt, options_of(4, sampling), *verifier);
    CHECK(result.stats.proposed > 0);
    CHECK(result.stats.accepted == result.stats.proposed);
  }
}

TEST_CASE("sharing the noise matters: a draft model that draws on its own is taken less often") {
  class OwnNoise : public Drafter {
   public:
    OwnNoise(std::unique_ptr<Drafter> drafter) : drafter_(std::move(drafter)) {}
    [[nodiscard]] std::string_view name() const override { return "own noise"; }
    void reset() override { drafter_->reset(); }
    void propose(const DraftRequest& request, Draft& draft) override {
      DraftRequest own = request;
      own.how = DraftSampling::kIndependent;
      drafter_->propose(own, draft);
    }
    void observe(std::span<const std::int32_t> history, const Draft& draft, const Verdict& verdict) override {
      drafter_->observe(history, draft, verdict);
    }

   private:
    std::unique_ptr<Drafter> drafter_;
  };
  ScriptedModel model = table_model(8);
  const auto verifier = find_verifier("coupled").make();
  OwnNoise drafter(find_drafter("model").make({.draft_model = &model, .target_model = &model}));
  const SamplingOptions sampling{.temperature = 8.0, .seed = 1};
  const GenerateResult result = test::run(model, &drafter, kPrompt, options_of(4, sampling), *verifier);
  CHECK(*result.stats.acceptance_rate() < 0.6);
  CHECK(result.ids == text_of(model, nullptr, 0, sampling));  // speed alone depends on it
}

TEST_CASE("B06: a seed gives the same tokens alone, after another request and beside others, another seed others") {
  ScriptedModel model = table_model(11);
  const auto verifier = find_verifier("coupled").make();
  const auto drafter = find_drafter("ngram").make({});
  const SamplingOptions seed_7{.temperature = 0.8, .seed = 7};
  const SamplingOptions seed_8{.temperature = 0.8, .seed = 8};
  const Ids alone = text_of(model, nullptr, 0, seed_7);
  CHECK(text_of(model, nullptr, 0, seed_8) != alone);

  Session session(model, nullptr, drafter.get(), *verifier);
  static_cast<void>(session.generate(Ids{9, 9, 2}, options_of(3, seed_8)));
  CHECK(session.generate(kPrompt, options_of(3, seed_7)).ids == alone);

  // Three other requests are generated in between, token by token, by sessions on the same model.
  Session others[] = {
      {model, nullptr, nullptr, *verifier}, {model, nullptr, nullptr, *verifier}, {model, nullptr, nullptr, *verifier}};
  const GenerateResult beside = session.generate(kPrompt, options_of(3, seed_7), [&](const TokenEvent& event) {
    for (Session& other : others) static_cast<void>(other.generate(Ids{event.id}, options_of(0, seed_8)));
    return true;
  });
  CHECK(beside.ids == alone);

  test::FunctionDrafter empty([](std::span<const std::int32_t>, std::int32_t, Draft&) {});
  CHECK(text_of(model, &empty, 4, seed_7) == alone);
}

TEST_CASE("a longer limit only adds to a sampled text, and it does not depend on where its prompt was cut off before") {
  ScriptedModel model = table_model(12);
  const SamplingOptions sampling{.temperature = 1.0, .seed = 3};
  const Ids text = text_of(model, nullptr, 0, sampling);
  Ids prompt = kPrompt;
  prompt.insert(prompt.end(), text.begin(), text.begin() + 10);
  const auto verifier = find_verifier("coupled").make();
  const Ids rest = test::run(model, nullptr, prompt, options_of(0, sampling), *verifier).ids;
  CHECK(std::equal(text.begin() + 10, text.end(), rest.begin()));
}

TEST_CASE("guard: a verifier that is only equal in distribution gives another text") {
  ScriptedModel model = table_model(13);
  const auto rejection = find_verifier("rejection").make();
  const auto drafter = find_drafter("ngram").make({});
  const SamplingOptions sampling{.temperature = 1.0, .seed = 3};
  const Ids other = test::run(model, drafter.get(), kPrompt, options_of(3, sampling), *rejection).ids;
  CHECK(other != text_of(model, nullptr, 0, sampling));
  CHECK(other == test::run(model, drafter.get(), kPrompt, options_of(3, sampling), *rejection).ids);
}
