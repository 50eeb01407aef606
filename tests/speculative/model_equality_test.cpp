// Real models at temperature 0: 200 prompts x gamma 1 to 8, speculation against plain decoding (rule E4).
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>  // std::getenv
#include <string_view>

#include <fmt/format.h>

#include "minitorch/core/execution_scope.h"
#include "models/load.h"
#include "speculative/drafters/replay.h"
#include "tests/speculative/helpers.h"
#include "tests/support/data.h"
#include "tests/support/random_model.h"
#include "tests/support/skips.h"  // report_result

using namespace minitorch;
using namespace minitorch::spec;
using test::Ids;

namespace {

constexpr std::size_t kPrompts = 200;
constexpr std::int32_t kMaxGamma = 8;

struct Totals {
  int runs = 0;
  int differences = 0;
  std::int64_t accepted = 0;
};

// Every prompt with every gamma through `drafter`. One session serves all, so that its cache is reused and cut all the
// time.
Totals compare_with_plain(models::CausalLM& model, Drafter& drafter, const std::vector<Ids>& prompts,
                          std::int32_t new_tokens) {
  Session plain(model, nullptr, nullptr, test::greedy());
  Session speculative(model, nullptr, &drafter, test::greedy());
  Totals totals;
  for (const Ids& prompt : prompts) {
    const Ids expected = plain.generate(prompt, test::options_of(new_tokens, 0)).ids;
    for (std::int32_t gamma = 1; gamma <= kMaxGamma; ++gamma) {
      const GenerateResult result = speculative.generate(prompt, test::options_of(new_tokens, gamma));
      ++totals.runs;
      totals.differences += result.ids == expected ? 0 : 1;
      totals.accepted += result.stats.accepted;
    }
  }
  return totals;
}

// Differences over random trees of up to 64 nodes that hold the target's own text somewhere.
int differences_with_trees(models::CausalLM& model, const std::vector<Ids>& prompts, std::int32_t new_tokens) {
  Session plain(model, nullptr, nullptr, test::greedy());
  PhiloxStream random(5);
  int differences = 0;
  for (const Ids& prompt : prompts) {
    const Ids expected = plain.generate(prompt, test::options_of(new_tokens, 0)).ids;
    for (const std::int32_t gamma : {3, 8, 64}) {
      ReplayDrafter drafter(test::plan_trees(random, expected, gamma, model.vocab_size()));
      differences += test::run(model, &drafter, prompt, test::options_of(new_tokens, gamma)).ids == expected ? 0 : 1;
    }
  }
  return differences;
}

void report_equality(std::string_view what, const Totals& totals) {
  test::report_result(fmt::format("{}: {} runs against plain decoding, {} differences, {} draft tokens accepted", what,
                                  totals.runs, totals.differences, totals.accepted));
}

std::vector<Ids> random_prompts(std::int32_t vocab_size) {
  PhiloxStream random(6);
  std::vector<Ids> prompts(kPrompts);
  for (Ids& prompt : prompts) {
    prompt.resize(1 + random.below(80));  // on both sides of the attention block of 64
    for (std::int32_t& id : prompt)
      id = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(vocab_size)));
  }
  return prompts;
}

// 100 prompts from GSM8K questions and 100 from the model's own stories, of 5 to 84 tokens.
std::vector<Ids> story_prompts(const models::LoadedModel& loaded) {
  const auto questions = test::read_jsonl(test::data_folder() / "benches/gsm8k/test.jsonl");
  Session session(*loaded.model, nullptr, nullptr, test::greedy());
  std::vector<Ids> prompts;
  for (std::size_t i = 0; prompts.size() < kPrompts; ++i) {
    Ids ids = loaded.tokenizer.encode(questions.at(i).at("question").get<std::string>(), /*add_special_tokens=*/true);
    ids.resize(std::min(ids.size(), 5 + i % 80));
    prompts.push_back(ids);
    const Ids story = session.generate(ids, test::options_of(20, 0)).ids;
    ids.insert(ids.end(), story.begin(), story.end());
    prompts.push_back(ids);
  }
  return prompts;
}

}  // namespace

TEST_CASE("stories260K: 200 prompts, gamma 1 to 8, no difference from plain decoding") {
  MT_REQUIRE_DATA("models/stories260K/model.safetensors");
  MT_REQUIRE_DATA("benches/gsm8k/test.jsonl");
  const models::LoadedModel loaded = models::load_model(test::data_folder() / "models/stories260K", default_runtime());
  const std::vector<Ids> prompts = story_prompts(loaded);
  REQUIRE(prompts.size() == kPrompts);
  const auto drafter = find_drafter("ngram").make({});
  const Totals totals = compare_with_plain(*loaded.model, *drafter, prompts, 24);
  report_equality("stories260K", totals);
  CHECK(totals.runs == 1600);
  CHECK(totals.differences == 0);
  CHECK(totals.accepted > 1000);
  CHECK(differences_with_trees(*loaded.model, {prompts.begin(), prompts.begin() + 20}, 40) == 0);
}

TEST_CASE("stories260K: coupled sampling with n-gram drafts and its own drafts is plain sampling") {
  MT_REQUIRE_DATA("models/stories260K/model.safetensors");
  MT_REQUIRE_DATA("benches/gsm8k/test.jsonl");
  const models::LoadedModel loaded = models::load_model(test::data_folder() / "models/stories260K", default_runtime());
  const bool full = std::getenv("MINITORCH_FULL_TESTS") != nullptr;
  std::vector<Ids> prompts = story_prompts(loaded);
  prompts.resize(full ? 100 : 10);
  const auto verifier = find_verifier("coupled").make();
  Session plain(*loaded.model, nullptr, nullptr, *verifier);
  Totals totals;
  for (const char* name : {"model", "ngram"}) {
    const auto drafter =
        find_drafter(name).make({.draft_model = loaded.model.get(), .target_model = loaded.model.get()});
    Session speculative(*loaded.model, nullptr, drafter.get(), *verifier);
    for (SamplingOptions sampling :
         {SamplingOptions{.temperature = 0.6, .top_p = 0.95}, SamplingOptions{.temperature = 1.0}}) {
      for (const Ids& prompt : prompts) {
        ++sampling.seed;
        GenerateOptions options = test::options_of(48, 0);
        options.sampling = sampling;
        const Ids expected = plain.generate(prompt, options).ids;
        for (const std::int32_t gamma : {1, 4, 8}) {
          options.gamma = gamma;
          const GenerateResult result = speculative.generate(prompt, options);
          ++totals.runs;
          totals.differences += result.ids == expected ? 0 : 1;
          totals.accepted += result.stats.accepted;
        }
      }
    }
  }
  report_equality("stories260K, sampled", totals);
  CHECK(totals.differences == 0);
  CHECK(totals.accepted > 1000);
}

TEST_CASE("random weights, f32, bf16, int8 and int4: 200 prompts, gamma 1 to 8, no difference from plain decoding") {
  for (const models::WeightDType dtype : {models::WeightDType::kF32, models::WeightDType::kBF16,
                                          models::WeightDType::kInt8, models::WeightDType::kInt4}) {
    CAPTURE(static_cast<int>(dtype));
    const auto model = test::make_random_model({}, 11, default_runtime(), {.dtype = dtype, .cache_dtype = {}});
    const std::vector<Ids> prompts = random_prompts(model->vocab_size());
    const auto drafter = find_drafter("ngram").make({});
    const Totals totals = compare_with_plain(*model, *drafter, prompts, 16);
    report_equality("random weights", totals);
    CHECK(totals.runs == 1600);
    CHECK(totals.differences == 0);
    CHECK(totals.accepted > 100);
    CHECK(differences_with_trees(*model, {prompts.begin(), prompts.begin() + 20}, 40) == 0);
  }
}
