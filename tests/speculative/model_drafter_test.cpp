// The drafter `model`: equality with plain decoding, acceptance that shows both caches in step (B08), what it computes
// and allocates, and the mistake that would make every draft look accepted.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>  // std::abs
#include <numeric>  // std::iota

#include <fmt/format.h>

#include "minitorch/core/execution_scope.h"
#include "tests/speculative/counting_new.h"
#include "tests/speculative/helpers.h"
#include "tests/support/random_model.h"
#include "tests/support/scripted_model.h"
#include "tests/support/skips.h"  // report_result

using namespace minitorch;
using namespace minitorch::spec;
using test::Ids;
using test::ScriptedModel;

namespace {

std::unique_ptr<Drafter> model_drafter(models::CausalLM& draft, const models::CausalLM& target) {
  return find_drafter("model").make({.draft_model = &draft, .target_model = &target});
}

std::vector<Ids> random_prompts(std::size_t count, std::int32_t vocab_size) {
  PhiloxStream random(6);
  std::vector<Ids> prompts(count);
  for (Ids& prompt : prompts) {
    prompt.resize(1 + random.below(80));  // on both sides of the attention block of 64
    for (std::int32_t& id : prompt)
      id = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(vocab_size)));
  }
  return prompts;
}

struct Comparison {
  int runs = 0;
  int differences = 0;
  GenerationStats stats;
};

// 50 prompts x gamma 1 to 8, decoded by `speculative` with the draft, against plain decoding of `target`. One session
// serves all, so that both caches are reused and cut all the time.
Comparison compare_with_plain(models::CausalLM& target, models::CausalLM& speculative, models::CausalLM& draft) {
  const auto drafter = model_drafter(draft, target);
  Session plain_session(target, nullptr, nullptr, test::greedy());
  Session session(speculative, nullptr, drafter.get(), test::greedy());
  Comparison comparison;
  for (const Ids& prompt : random_prompts(50, target.vocab_size())) {
    const Ids plain = plain_session.generate(prompt, test::options_of(24, 0)).ids;
    for (std::int32_t gamma = 1; gamma <= 8; ++gamma) {
      const GenerateResult result = session.generate(prompt, test::options_of(24, gamma));
      ++comparison.runs;
      comparison.differences += result.ids == plain ? 0 : 1;
      comparison.stats += result.stats;
    }
  }
  test::report_result(fmt::format("drafter model: {} runs against plain decoding, {} differences, acceptance {:.3f}",
                                  comparison.runs, comparison.differences,
                                  comparison.stats.acceptance_rate().value_or(0.0)));
  return comparison;
}

// The mistake of a project before ours: where the target's rows behind the drafted tokens belong, the draft model's are
// read, so that it judges itself; only the last row is the target's.
class DraftRowsAsTargets : public models::CausalLM {
 public:
  DraftRowsAsTargets(models::CausalLM& target, models::CausalLM& draft) : target_(target), draft_(draft) {}

  [[nodiscard]] std::int32_t vocab_size() const override { return target_.vocab_size(); }
  [[nodiscard]] std::int32_t max_context() const override { return target_.max_context(); }
  [[nodiscard]] models::KVCache make_cache(std::int32_t capacity) const override {
    return target_.make_cache(capacity);
  }
  void forward(const models::Batch& batch, models::Outputs& outputs) override {
    target_.forward(batch, outputs);
    const std::span<const std::int32_t> chain = batch.caches[0]->tokens();
    models::KVCache cache = draft_.make_cache(draft_.max_context());
    models::Batch all{.rows = {}, .caches = {&cache}};
    static_cast<void>(all.add_chain(0, chain));
    models::Outputs draft_outputs;
    draft_outputs.want.assign(chain.size(), models::Want::kArgmax);
    draft_.forward(all, draft_outputs);
    const std::size_t first = chain.size() - batch.rows.size();
    for (std::size_t row = 0; row + 1 < batch.rows.size(); ++row) {
      if (outputs.argmax[row] >= 0) outputs.argmax[row] = draft_outputs.argmax[first + row];
    }
  }

 private:
  models::CausalLM& target_;
  models::CausalLM& draft_;
};

}  // namespace

TEST_CASE("B08: a draft model equal to its target is never rejected, and saves every pass it can") {
  const auto model = test::make_random_model({}, 31, default_runtime());
  const Ids prompt{1, 2, 3, 1, 2};
  constexpr std::int32_t kTokens = 200;
  const Ids plain = test::run(*model, nullptr, prompt, test::options_of(kTokens, 0)).ids;
  for (const std::int32_t gamma : {1, 2, 3, 5, 8}) {
    CAPTURE(gamma);
    const auto drafter = model_drafter(*model, *model);
    const GenerateResult result = test::run(*model, drafter.get(), prompt, test::options_of(kTokens, gamma));
    CHECK(result.ids == plain);
    CHECK(result.stats.proposed > kTokens / 3);
    CHECK(result.stats.accepted == result.stats.proposed);
    CHECK(std::abs(static_cast<double>(result.stats.target_passes) - kTokens / (gamma + 1.0)) <= 1.0);
    CHECK(result.stats.draft_s > 0.0);
  }
}

TEST_CASE("a draft model with other weights, and one rounded to bf16: no difference from plain decoding") {
  const auto target = test::make_random_model({}, 32, default_runtime());
  SUBCASE("other weights, another shape") {
    const auto draft = test::make_random_model({.num_layers = 1}, 33, default_runtime());
    const Comparison comparison = compare_with_plain(*target, *target, *draft);
    CHECK(comparison.runs == 400);
    CHECK(comparison.differences == 0);
    CHECK(comparison.stats.acceptance_rate().value() < 0.2);
  }
  SUBCASE("the same weights in bf16") {
    const auto draft =
        test::make_random_model({}, 32, default_runtime(), {.dtype = models::WeightDType::kBF16, .cache_dtype = {}});
    const Comparison comparison = compare_with_plain(*target, *target, *draft);
    CHECK(comparison.runs == 400);
    CHECK(comparison.differences == 0);
    CHECK(comparison.stats.acceptance_rate().value() > 0.5);
    CHECK(comparison.stats.acceptance_rate().value() < 1.0);
  }
}

TEST_CASE(
    "the draft's rows read as the target's accept everything, and the comparison with plain decoding reports it") {
  const auto target = test::make_random_model({}, 32, default_runtime());
  const auto draft = test::make_random_model({.num_layers = 1}, 33, default_runtime());
  DraftRowsAsTargets mistaken(*target, *draft);
  const Comparison comparison = compare_with_plain(*target, mistaken, *draft);
  CHECK(comparison.stats.acceptance_rate().value() == 1.0);
  CHECK(comparison.differences > 350);  // of 400
}

TEST_CASE("a draft accepted whole costs one draft pass per token, and the next one a single row more") {
  constexpr std::int32_t kRounds = 6;
  for (const std::int32_t gamma : {1, 2, 3, 5, 8}) {
    CAPTURE(gamma);
    ScriptedModel target = ScriptedModel::markov2(16, 128, 5);
    ScriptedModel draft = ScriptedModel::markov2(16, 128, 5);
    const auto drafter = model_drafter(draft, target);
    const std::int32_t tokens = 1 + kRounds * (gamma + 1);
    const GenerateResult result = test::run(target, drafter.get(), Ids{4, 9, 4, 9, 2}, test::options_of(tokens, gamma));
    CHECK(result.stats.target_passes == kRounds);
    CHECK(result.stats.accepted == kRounds * gamma);
    CHECK(draft.num_passes() == kRounds * gamma);
    // The first round computes the prompt and the first token, the others two tokens.
    CHECK(draft.num_rows() == 5 + 1 + (kRounds - 1) * 2 + kRounds * (gamma - 1));
  }
}

TEST_CASE("a draft rejected whole costs one draft pass of a single row per token, and nothing is computed twice") {
  const Ids prompt{4, 9, 4, 9, 2};
  ScriptedModel plain = ScriptedModel::markov2(16, 128, 5);
  const Ids ids = test::run(plain, nullptr, prompt, test::options_of(40, 0)).ids;
  for (const std::int32_t gamma : {1, 2, 3, 5, 8}) {
    CAPTURE(gamma);
    ScriptedModel target = ScriptedModel::markov2(16, 128, 5);
    ScriptedModel draft = ScriptedModel::from_next_token(16, 128, [&](ScriptedModel::Prefix prefix) {
      const std::size_t at = prefix.size() - prompt.size();  // wraps inside the prompt
      return at < ids.size() ? (ids[at] + 1) % 16 : 0;
    });
    const auto drafter = model_drafter(draft, target);
    const GenerateResult result = test::run(target, drafter.get(), prompt, test::options_of(40, gamma));
    CHECK(result.ids == ids);
    CHECK(result.stats.accepted == 0);
    CHECK(result.stats.proposed >= 38);
    CHECK(draft.num_passes() == result.stats.proposed);
    CHECK(draft.num_rows() == 5 + result.stats.proposed);
  }
}

TEST_CASE("a further prompt makes the draft model compute only what its cache does not share with it") {
  ScriptedModel target = ScriptedModel::markov2(16, 128, 6);
  ScriptedModel draft = ScriptedModel::markov2(16, 128, 6);
  const auto drafter = model_drafter(draft, target);
  Session session(target, nullptr, drafter.get(), test::greedy());
  Ids prompt{3, 1, 4, 1, 5};
  const Ids first = session.generate(prompt, test::options_of(13, 3)).ids;  // 1 + 3 rounds of 4
  prompt.insert(prompt.end(), first.begin(), first.end());
  prompt.insert(prompt.end(), {7, 7});
  std::int64_t rows = draft.num_rows();
  const GenerateResult second = session.generate(prompt, test::options_of(5, 3));
  // 18 tokens of the first request, of which the last drafted one and the target's own were not computed.
  CHECK(draft.num_rows() - rows == (20 - 16) + 1 + 2);
  CHECK(second.stats.accepted == 3);

  const Ids edited{3, 1, 9, 1, 5, 2};
  rows = draft.num_rows();
  const GenerateResult third = session.generate(edited, test::options_of(5, 3));
  CHECK(draft.num_rows() - rows == (6 - 2) + 1 + 2);
  CHECK(third.stats.accepted == 3);
  ScriptedModel plain = ScriptedModel::markov2(16, 128, 6);
  CHECK(second.ids == test::run(plain, nullptr, prompt, test::options_of(5, 0)).ids);
  CHECK(third.ids == test::run(plain, nullptr, edited, test::options_of(5, 0)).ids);
}

TEST_CASE("reading a prompt ends between two passes when that is asked for, and goes on later") {
  ScriptedModel model = ScriptedModel::markov2(16, 1024, 3);
  const auto drafter = find_drafter("model").make({.draft_model = &model, .target_model = &model});
  const Ids prompt(600, 1);
  const std::atomic<bool> stop{true};
  Draft draft;
  drafter->propose({.history = prompt, .budget = 4, .stop_requested = &stop}, draft);
  CHECK(draft.empty());
  CHECK(model.num_passes() == 0);
  drafter->propose({.history = prompt, .budget = 4}, draft);
  CHECK(draft.size() == 4);
}

TEST_CASE("a prompt of more than one pass is read in chunks, and drafted behind like a short one") {
  Ids prompt(600);
  std::iota(prompt.begin(), prompt.end(), 0);
  for (std::int32_t& id : prompt) id = id * id % 16;
  ScriptedModel target = ScriptedModel::markov2(16, 1024, 7);
  ScriptedModel draft = ScriptedModel::markov2(16, 1024, 7);
  const auto drafter = model_drafter(draft, target);
  const GenerateResult result = test::run(target, drafter.get(), prompt, test::options_of(6, 4));
  CHECK(result.stats.accepted == 4);
  CHECK(draft.num_rows() == 601 + 3);
  CHECK(draft.num_passes() == 3 + 3);
}

TEST_CASE("drafting allocates nothing behind the first round, though its cache grows over several pages") {
  const auto model = test::make_random_model({}, 34, default_runtime());
  const auto drafter = model_drafter(*model, *model);
  Ids history{1, 2, 3, 1, 2};
  history.reserve(400);
  Draft draft;
  Verdict verdict;
  long allocations = -1;
  drafter->reset();
  while (history.size() < 300) {  // a target that accepts half of every draft
    draft.clear();
    drafter->propose({.history = history, .budget = 6}, draft);
    REQUIRE(draft.size() == 6);
    verdict.path.assign({0, 1, 2});
    history.insert(history.end(), draft.tokens.begin(), draft.tokens.begin() + 3);
    history.push_back(static_cast<std::int32_t>(history.size() % 97));
    drafter->observe(history, draft, verdict);
    if (allocations < 0) test::reset_allocation_count();
    allocations = test::allocation_count();
  }
  CHECK(allocations == 0);
}

TEST_CASE("a session with a draft model decodes a hundred tokens without an allocation once it is warm") {
  const auto target = test::make_random_model({}, 21, default_runtime());
  const auto draft = test::make_random_model({.num_layers = 1}, 22, default_runtime());
  for (models::CausalLM* proposes : {draft.get(), target.get()}) {
    for (const std::int32_t gamma : {1, 4, 8}) {
      CAPTURE(gamma);
      const auto drafter = model_drafter(*proposes, *target);
      Session session(*target, nullptr, drafter.get(), test::greedy());
      const Ids prompt{1, 2, 3, 1, 2};
      static_cast<void>(session.generate(prompt, test::options_of(200, gamma)));
      session.reset();
      long allocations = -1;
      int tokens = 0;
      static_cast<void>(session.generate(prompt, test::options_of(200, gamma), [&](const TokenEvent&) {
        if (++tokens == 50) test::reset_allocation_count();
        if (tokens == 150) allocations = test::allocation_count();
        return true;
      }));
      CHECK(allocations == 0);
    }
  }
}
