// At temperature 0 speculation gives plain decoding's tokens, whatever is drafted (rule E4, case B04).
#include <doctest/doctest.h>

#include "speculative/chooser_philox.h"
#include "speculative/drafters/replay.h"
#include "tests/speculative/helpers.h"
#include "tests/support/scripted_model.h"

using namespace minitorch;
using namespace minitorch::spec;
using test::Ids;
using test::ScriptedModel;

namespace {

constexpr std::int32_t kVocab = 16;
constexpr std::int32_t kNewTokens = 40;
constexpr int kNumTables = 50;
constexpr std::int32_t kMaxGamma = 8;

ScriptedModel table_model(int table) {
  return ScriptedModel::markov2(kVocab, 64, 1000 + static_cast<std::uint64_t>(table));
}

Ids table_prompt(int table) {
  PhiloxStream random(2000 + static_cast<std::uint64_t>(table));
  Ids prompt(1 + random.below(6));
  for (std::int32_t& token : prompt) token = static_cast<std::int32_t>(random.below(kVocab));
  return prompt;
}

Ids plain_ids(int table) {
  ScriptedModel model = table_model(table);
  return run(model, nullptr, table_prompt(table), test::options_of(kNewTokens, 0)).ids;
}

// Tables x gammas on which the drafter changes the output. make(table, gamma, plain) gives the drafter.
template <typename Make>
int count_differences(Make make, const Verifier& verifier = test::greedy()) {
  int differences = 0;
  for (int table = 0; table < kNumTables; ++table) {
    const Ids plain = plain_ids(table);
    REQUIRE(plain.size() == kNewTokens);
    for (std::int32_t gamma = 1; gamma <= kMaxGamma; ++gamma) {
      ScriptedModel model = table_model(table);
      const std::unique_ptr<Drafter> drafter = make(table, gamma, plain);
      const GenerateResult result =
          run(model, drafter.get(), table_prompt(table), test::options_of(kNewTokens, gamma), verifier);
      differences += result.ids == plain ? 0 : 1;
    }
  }
  return differences;
}

PhiloxStream stream_for(int table, std::int32_t gamma) {
  return PhiloxStream(static_cast<std::uint64_t>(100 * table + gamma));
}

std::unique_ptr<Drafter> random_chains(int table, std::int32_t gamma) {
  return std::make_unique<test::FunctionDrafter>(
      [random = stream_for(table, gamma)](std::span<const std::int32_t>, std::int32_t budget, Draft& draft) mutable {
        std::int32_t parent = Draft::kRoot;
        for (std::int32_t i = 0; i < budget; ++i) {
          parent = draft.add(static_cast<std::int32_t>(random.below(kVocab)), parent);
        }
      });
}

std::unique_ptr<Drafter> replayed_trees(int table, std::int32_t gamma, const Ids& plain) {
  PhiloxStream random = stream_for(table, gamma);
  return std::make_unique<ReplayDrafter>(test::plan_trees(random, plain, gamma, kVocab));
}

// Reads the row behind the one it should read, as a verifier does that never looks at the row before the first draft.
class ShiftedVerifier : public Verifier {
 public:
  [[nodiscard]] std::string_view name() const override { return "shifted"; }
  [[nodiscard]] models::Want want() const override { return models::Want::kArgmax; }
  [[nodiscard]] bool lossless() const override { return true; }
  [[nodiscard]] DraftSampling draft_sampling() const override { return DraftSampling::kArgmax; }
  void check(const SamplingOptions& /*sampling*/) const override {}
  [[nodiscard]] bool same_text_as_plain(const SamplingOptions& /*sampling*/) const override { return true; }
  void verify(const Draft& draft, const TargetRows& rows, Chooser& chooser, Verdict& verdict) const override {
    models::Outputs shifted;
    const auto& argmax = rows.outputs().argmax;
    shifted.argmax.assign(argmax.begin() + (draft.empty() ? 0 : 1), argmax.end());
    shifted.argmax.push_back(argmax.back());
    test::greedy().verify(draft, TargetRows(shifted, rows.first_row(), rows.sampling(), rows.buffer()), chooser,
                          verdict);
  }
};

}  // namespace

TEST_CASE("B04: the first drafted token is checked like every other") {
  const Ids prompt{4, 9, 4, 9};
  for (const Ids& proposed : {Ids{4}, Ids{4, 9}, Ids{4, 9, 4}}) {
    CAPTURE(proposed.size());
    ScriptedModel model = ScriptedModel::from_stream(16, 32, 4, {6, 7, 8, 3});
    ReplayDrafter drafter({test::chain(proposed), test::chain(proposed), test::chain(proposed)});
    const GenerateResult result = run(model, &drafter, prompt, test::options_of(4, 4));
    CHECK(result.ids == Ids{6, 7, 8, 3});
    CHECK(result.stats.proposed > 0);
    CHECK(result.stats.accepted == 0);
  }
}

TEST_CASE("B04: 50 order-2 Markov tables, every registered drafter, gamma 1 to 8: no difference from plain decoding") {
  for (const DrafterInfo& info : drafters()) {
    CAPTURE(info.name);
    ScriptedModel draft = table_model(0);
    const DrafterOptions options{.draft_model = &draft, .target_model = &draft};
    CHECK(count_differences([&](int, std::int32_t, const Ids&) { return info.make(options); }) == 0);
  }
}

TEST_CASE("B04: the prompt look-up drafter with long matches, and with chains only, changes nothing") {
  for (const std::int32_t share : {0, 1, 2}) {
    CAPTURE(share);
    const DrafterOptions options{.max_ngram = 6, .min_ngram = 2, .branch_share = share};
    CHECK(count_differences([&](int, std::int32_t, const Ids&) { return find_drafter("ngram").make(options); }) == 0);
  }
}

TEST_CASE("B04: random trees whose accepted path lies anywhere change nothing, and are really accepted") {
  CHECK(count_differences(replayed_trees) == 0);
  std::int64_t accepted = 0;
  bool scattered = false;
  for (int table = 0; table < kNumTables; ++table) {
    ScriptedModel model = table_model(table);
    PhiloxStream random = stream_for(table, 8);
    ReplayDrafter drafter(test::plan_trees(random, plain_ids(table), 8, kVocab));
    const GenerateResult result = run(model, &drafter, table_prompt(table), test::options_of(kNewTokens, 8));
    accepted += result.stats.accepted;
    for (const Verdict& verdict : drafter.verdicts()) {
      for (std::size_t i = 0; i < verdict.path.size(); ++i) {
        scattered = scattered || (i > 0 && verdict.path[i] > verdict.path[i - 1] + 1);
      }
    }
  }
  CHECK(accepted > 10 * kNumTables);
  CHECK(scattered);
}

TEST_CASE("bad drafters cost speed only: random, constant, the opposite of the target, one branch per token") {
  CHECK(count_differences([](int table, std::int32_t gamma, const Ids&) { return random_chains(table, gamma); }) == 0);
  CHECK(count_differences([](int, std::int32_t, const Ids&) {
          return std::make_unique<test::FunctionDrafter>(
              [](std::span<const std::int32_t>, std::int32_t budget, Draft& draft) {
                for (std::int32_t i = 0; i < budget; ++i) draft.add(0, i - 1);
              });
        }) == 0);
  CHECK(count_differences([](int table, std::int32_t, const Ids& plain) {
          const std::size_t prompt_size = table_prompt(table).size();
          return std::make_unique<test::FunctionDrafter>(
              [plain, prompt_size](std::span<const std::int32_t> history, std::int32_t budget, Draft& draft) {
                for (std::int32_t i = 0; i < budget; ++i) {
                  const std::size_t at = history.size() - prompt_size + static_cast<std::size_t>(i);
                  draft.add((plain[at] + 1) % kVocab, i - 1);
                }
              });
        }) == 0);
  CHECK(count_differences([](int, std::int32_t, const Ids&) {
          return std::make_unique<test::FunctionDrafter>(
              [](std::span<const std::int32_t>, std::int32_t budget, Draft& draft) {
                for (std::int32_t i = 0; i < std::min(budget, kVocab); ++i) draft.add(i, Draft::kRoot);
              });
        }) == 0);
}

TEST_CASE("a drafter that never has an idea takes exactly the passes of plain decoding") {
  for (int table = 0; table < 5; ++table) {
    CAPTURE(table);
    ScriptedModel plain_model = table_model(table);
    const GenerateResult plain = run(plain_model, nullptr, table_prompt(table), test::options_of(kNewTokens, 0));
    ScriptedModel model = table_model(table);
    test::FunctionDrafter empty([](std::span<const std::int32_t>, std::int32_t, Draft&) {});
    const GenerateResult result = run(model, &empty, table_prompt(table), test::options_of(kNewTokens, 8));
    CHECK(result.ids == plain.ids);
    CHECK(model.num_passes() == plain_model.num_passes());
    CHECK(model.num_rows() == plain_model.num_rows());
    CHECK(result.stats.target_passes == kNewTokens - 1);
    CHECK(result.stats.proposed == 0);
    CHECK_FALSE(result.stats.acceptance_rate().has_value());
  }
}

TEST_CASE("drafts equal to the target's own text are accepted whole, every time") {
  for (std::int32_t gamma = 1; gamma <= kMaxGamma; ++gamma) {
    CAPTURE(gamma);
    const Ids plain = plain_ids(3);
    const std::size_t prompt_size = table_prompt(3).size();
    ScriptedModel model = table_model(3);
    test::FunctionDrafter oracle([&](std::span<const std::int32_t> history, std::int32_t budget, Draft& draft) {
      for (std::int32_t i = 0; i < budget; ++i) {
        draft.add(plain[history.size() - prompt_size + static_cast<std::size_t>(i)], i - 1);
      }
    });
    const GenerateResult result = run(model, &oracle, table_prompt(3), test::options_of(kNewTokens, gamma));
    CHECK(result.ids == plain);
    CHECK(result.stats.accepted == result.stats.proposed);
    CHECK(result.stats.target_passes == (kNewTokens - 1 + gamma) / (gamma + 1));
  }
}

TEST_CASE("guard: a verifier that reads shifted rows is noticed by the equality tests above") {
  const ShiftedVerifier shifted;
  const auto ngram = [](int, std::int32_t, const Ids&) { return find_drafter("ngram").make({}); };
  CHECK(count_differences(ngram, shifted) > 0);
  CHECK(count_differences([](int table, std::int32_t gamma, const Ids&) { return random_chains(table, gamma); },
                          shifted) > 0);
  CHECK(count_differences(replayed_trees, shifted) > 0);
}

TEST_CASE("token id 0 is a token like every other: in the prompt, drafted, accepted and corrected") {
  ScriptedModel model = ScriptedModel::from_stream(4, 32, 2, {0, 0, 1, 0, 0, 0});
  ReplayDrafter drafter({test::chain({0, 0, 1}), test::chain({0, 0})});
  const GenerateResult result = run(model, &drafter, {0, 0}, test::options_of(6, 3));
  CHECK(result.ids == Ids{0, 0, 1, 0, 0, 0});
  CHECK(result.stats.accepted == 3);  // 0 of the first draft, 0 0 of the second
}

TEST_CASE("ids that the target's tokenizer lacks are never generated, drafted or not") {
  const auto make_model = [] {
    // The masked ids 2 and 7 have by far the largest logits.
    ScriptedModel model(8, 32, [](ScriptedModel::Prefix prefix, std::span<float> logits) {
      for (std::size_t id = 0; id < logits.size(); ++id) logits[id] = static_cast<float>((id * 3 + prefix.size()) % 5);
      logits[2] = logits[7] = 1e9f;
    });
    model.restrict_ids({.limit = 7, .holes = {2}});
    return model;
  };
  ScriptedModel plain_model = make_model();
  const GenerateResult plain = run(plain_model, nullptr, {1}, test::options_of(20, 0));
  ScriptedModel model = make_model();
  test::FunctionDrafter masked([](std::span<const std::int32_t>, std::int32_t budget, Draft& draft) {
    draft.add(2, Draft::kRoot);
    if (budget > 1) draft.add(7, Draft::kRoot);
  });
  const GenerateResult result = run(model, &masked, {1}, test::options_of(20, 2));
  CHECK(result.ids == plain.ids);
  for (const std::int32_t id : result.ids) CHECK((id != 2 && id != 7));
  CHECK(result.stats.accepted == 0);
}
