// The exactness proof of "rejection": two rounds of production code have the distribution of plain sampling, and the
// proof notices what could be wrong with it.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "speculative/drafters/replay.h"
#include "tests/speculative/helpers.h"
#include "tests/speculative/two_rounds.h"
#include "tests/support/skips.h"  // report_result

using namespace minitorch;
using namespace minitorch::spec;
using test::Distance;
using test::Table;
using test::TwoRounds;

namespace {

constexpr double kExact = 1e-12;

// Tables whose acceptance is known (see the case below).
const Table kP{{0.6, 0.3, 0.1}, {0.2, 0.5, 0.3}, {0.1, 0.1, 0.8}};
const Table kQ{{0.4, 0.4, 0.2}, {0.5, 0.2, 0.3}, {0.3, 0.3, 0.4}};
// A draft so wrong that behind every rejection two tokens have a chance.
const Table kOtherwiseSure{{0.2, 0.2, 0.6}, {0.6, 0.2, 0.2}, {0.05, 0.75, 0.2}};

// Two rounds with the draft model of table `draft` and a verifier.
Distance distance_of(const TwoRounds& rounds, const Table& draft, const Verifier& verifier) {
  test::ScriptedModel target = test::model_of(rounds.target);
  test::ScriptedModel model = test::model_of(draft);
  const auto drafter = find_drafter("model").make({.draft_model = &model, .target_model = &target});
  return test::distance_of(rounds, *drafter, verifier, target);
}

void check_exact(const Distance& distance) {
  CAPTURE(distance.outcomes);
  CHECK(distance.weight == doctest::Approx(1.0).epsilon(1e-12));
  CHECK(distance.total_variation < kExact);
}

enum class Fault : std::uint8_t {
  kNone,
  kNoSubtraction,      // the token behind a rejection is drawn from p, not from max(p - q, 0)
  kBonusFromWrongRow,  // the token behind the last accepted one is drawn from the row before it
  kReusedNumber,       // the token behind a rejection is drawn with the number that rejected
  kUnnormalised,       // what top_k left is not divided by its sum
  kSinglePrecision,    // rows in f32
  kDraftRows,          // the draft's rows taken for the target's
  kRawDraftRow,        // q is the draft's row before the sampling settings acted on it (report B01 in tests/README.md)
};

// The rule of "rejection" on chains, written a second time, with one thing wrong.
class FaultyRejection : public Verifier {
 public:
  FaultyRejection(Fault fault, const Table& draft) : fault_(fault), draft_(draft) {}

  [[nodiscard]] std::string_view name() const override { return "faulty"; }
  [[nodiscard]] models::Want want() const override { return models::Want::kLogits; }
  [[nodiscard]] DraftSampling draft_sampling() const override { return DraftSampling::kIndependent; }
  void check(const SamplingOptions& /*sampling*/) const override {}
  [[nodiscard]] bool lossless() const override { return true; }
  [[nodiscard]] bool same_text_as_plain(const SamplingOptions& /*sampling*/) const override { return false; }

  void verify(const Draft& draft, const TargetRows& rows, Chooser& chooser, Verdict& verdict) const override {
    verdict.path.clear();
    for (std::int32_t node = 0; node < draft.size(); ++node) {
      Distribution q = *draft.drawn_from(node);
      if (fault_ == Fault::kRawDraftRow) q = raw_row(draft, node);
      Distribution p = fault_ == Fault::kDraftRows ? q : row_behind(rows, node - 1);
      const std::int32_t token = draft.tokens[static_cast<std::size_t>(node)];
      if (chooser.accept(node, p.probability_of(token), q.probability_of(token))) {
        verdict.path.push_back(node);
        continue;
      }
      if (fault_ != Fault::kNoSubtraction) {
        for (TokenProbability& weight : p.tokens) {
          weight.probability = std::max(weight.probability - q.probability_of(weight.id), 0.0);
        }
      }
      const bool reused = fault_ == Fault::kReusedNumber;
      verdict.next_token = reused ? p.tokens[chooser.draw(node, Purpose::kAccept, p.tokens)].id
                                  : p.tokens[chooser.draw(node - 1, Purpose::kNext, p.tokens)].id;
      return;
    }
    const std::int32_t last = draft.size() - 1;
    const bool wrong = fault_ == Fault::kBonusFromWrongRow && last >= 0;
    const Distribution p = row_behind(rows, wrong ? last - 1 : last);
    verdict.next_token = p.tokens[chooser.draw(last, Purpose::kNext, p.tokens)].id;
  }

 private:
  [[nodiscard]] Distribution row_behind(const TargetRows& rows, std::int32_t node) const {
    Distribution row = rows.distribution_behind(node);
    if (fault_ == Fault::kUnnormalised) {
      const Distribution all = distribution(rows.outputs().logits_of(rows.first_row() + node + 1), {.temperature = 1});
      for (TokenProbability& token : row.tokens) token.probability = all.probability_of(token.id);
    }
    if (fault_ == Fault::kSinglePrecision) {
      for (TokenProbability& token : row.tokens) token.probability = static_cast<float>(token.probability);
    }
    return row;
  }

  // The draft model's row at temperature 1 and without top_k. A chain's node follows the one before it; the first
  // follows a token that the draft does not hold, where any row will do as long as it is a wrong one.
  [[nodiscard]] Distribution raw_row(const Draft& draft, std::int32_t node) const {
    Distribution row;
    const std::int32_t behind = node == 0 ? 0 : draft.tokens[static_cast<std::size_t>(node - 1)];
    std::int32_t id = 0;
    for (const double p : draft_[static_cast<std::size_t>(behind)]) row.tokens.push_back({id++, p});
    return row;
  }

  Fault fault_;
  const Table& draft_;
};

double distance_with(Fault fault, const SamplingOptions& sampling) {
  const FaultyRejection verifier(fault, kOtherwiseSure);
  return distance_of({.target = kP, .gamma = 2, .sampling = sampling}, kOtherwiseSure, verifier).total_variation;
}

// Sends every round to the same numbers, as keys without the round do.
class RoundlessChooserVerifier : public FaultyRejection {
 public:
  using FaultyRejection::FaultyRejection;
  void verify(const Draft& draft, const TargetRows& rows, Chooser& chooser, Verdict& verdict) const override {
    const std::int64_t committed = chooser.committed();
    chooser.begin_round(0);
    FaultyRejection::verify(draft, rows, chooser, verdict);
    chooser.begin_round(committed);
  }
};

}  // namespace

TEST_CASE("rejection: two rounds have the distribution of plain sampling, vocabularies 3 and 4, gamma 1 to 3") {
  const auto verifier = find_verifier("rejection").make();
  double largest = 0.0;
  std::int64_t outcomes = 0;
  for (const std::int32_t vocab_size : {3, 4}) {
    for (std::int32_t gamma = 1; gamma <= 3; ++gamma) {
      CAPTURE(vocab_size);
      CAPTURE(gamma);
      for (const std::uint64_t seed : {1u, 2u, 3u}) {
        CAPTURE(seed);
        const TwoRounds rounds{.target = test::random_table(vocab_size, seed), .gamma = gamma};
        const Distance distance = distance_of(rounds, test::random_table(vocab_size, seed + 100), *verifier);
        check_exact(distance);
        CHECK(distance.accepted > 0.1);
        CHECK(distance.accepted < 2.0 * gamma);
        largest = std::max(largest, distance.total_variation);
        outcomes += distance.outcomes;
      }
    }
  }
  test::report_result(
      fmt::format("rejection: total variation at most {:.1e} over two rounds, {} outcomes", largest, outcomes));
}

TEST_CASE("rejection: the same with every sampling setting, also where draft and target keep other tokens") {
  const auto verifier = find_verifier("rejection").make();
  const SamplingOptions settings[] = {{.temperature = 0.5},
                                      {.temperature = 1.7, .top_k = 3},
                                      {.temperature = 1.0, .top_k = 2},
                                      {.temperature = 0.6, .top_p = 0.95},
                                      {.temperature = 1.0, .top_p = 0.6},
                                      {.temperature = 1.0, .min_p = 0.4}};
  for (const SamplingOptions& sampling : settings) {
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      CAPTURE(sampling.temperature);
      CAPTURE(sampling.top_k);
      CAPTURE(sampling.top_p);
      CAPTURE(seed);
      CAPTURE(sampling.min_p);
      const TwoRounds rounds{.target = test::random_table(4, seed), .gamma = 2, .sampling = sampling};
      check_exact(distance_of(rounds, test::random_table(4, seed + 100), *verifier));
    }
  }
}

TEST_CASE("rejection: accepted per round is the sum of min(p, q), as in Leviathan et al.") {
  const auto verifier = find_verifier("rejection").make();
  const Distance distance = distance_of({.target = kP, .gamma = 1}, kQ, *verifier);
  // Behind 0 a token stands with 0.4 + 0.3 + 0.1 = 0.8; the second round begins behind what the first emitted.
  const double behind[] = {0.8, 0.2 + 0.2 + 0.3, 0.1 + 0.1 + 0.4};
  double second = 0.0;
  for (std::size_t x = 0; x < 3; ++x) {
    const double accepted_x = std::min(kP[0][x], kQ[0][x]);
    for (std::size_t y = 0; y < 3; ++y) second += accepted_x * kP[x][y] * behind[y];
    second += std::max(kP[0][x] - kQ[0][x], 0.0) * behind[x];
  }
  CHECK(distance.accepted == doctest::Approx(0.8 + second).epsilon(1e-6));
}

TEST_CASE("rejection: deterministic drafts and trees of them are exact too") {
  const auto verifier = find_verifier("rejection").make();
  const Draft tree{.tokens = {2, 0, 1, 1}, .parent = {-1, -1, 0, 1}};
  for (const Draft& draft : {test::chain({1}), test::chain({0, 2}), tree}) {
    CAPTURE(draft.size());
    test::ScriptedModel target = test::model_of(kP);
    ReplayDrafter drafter({draft, draft});
    const TwoRounds rounds{.target = kP, .gamma = draft.size()};
    check_exact(test::distance_of(rounds, drafter, *verifier, target));
  }
}

TEST_CASE("rejection: trees of siblings that were drawn without replacement are exact") {
  // Two children of the root, the second drawn from the row without the first one's token, and a child of each.
  class SiblingsDrafter : public Drafter {
   public:
    [[nodiscard]] std::string_view name() const override { return "siblings"; }
    void reset() override {}
    void observe(std::span<const std::int32_t> /*history*/, const Draft& /*draft*/,
                 const Verdict& /*verdict*/) override {}
    void propose(const DraftRequest& request, Draft& draft) override {
      Distribution row = row_behind(request.history.back());
      const std::int32_t first = add(row, Draft::kRoot, request, draft);
      row = row_behind(request.history.back());
      std::erase_if(row.tokens, [&](const TokenProbability& token) { return token.id == first; });
      CHECK(row.normalise());
      const std::int32_t second = add(row, Draft::kRoot, request, draft);
      row = row_behind(first);
      add(row, 0, request, draft);
      row = row_behind(second);
      add(row, 1, request, draft);
    }

   private:
    static Distribution row_behind(std::int32_t token) {
      Distribution row;
      for (std::int32_t id = 0; id < 3; ++id) {
        row.tokens.push_back({id, kOtherwiseSure[static_cast<std::size_t>(token)][static_cast<std::size_t>(id)]});
      }
      return row;
    }
    static std::int32_t add(Distribution& row, std::int32_t parent, const DraftRequest& request, Draft& draft) {
      const std::int32_t id = row.tokens[request.chooser->draw(draft.size(), Purpose::kDraft, row.tokens)].id;
      draft.add_drawn(id, parent, row);
      return id;
    }
  };
  test::ScriptedModel target = test::model_of(kP);
  SiblingsDrafter drafter;
  const auto verifier = find_verifier("rejection").make();
  const Distance distance = test::distance_of({.target = kP, .gamma = 4}, drafter, *verifier, target);
  check_exact(distance);
  CHECK(distance.accepted > 1.0);
}

TEST_CASE("rejection: where draft and target are the same, all drafts stand") {
  const auto verifier = find_verifier("rejection").make();
  const Distance distance = distance_of({.target = kP, .gamma = 2}, kP, *verifier);
  check_exact(distance);
  CHECK(distance.accepted == doctest::Approx(4.0).epsilon(1e-12));
}

TEST_CASE("guard: the proof passes the rule written a second time, and fails for every planted fault") {
  const SamplingOptions plain{.temperature = 1.0};
  const SamplingOptions top_2{.temperature = 1.0, .top_k = 2};
  CHECK(distance_with(Fault::kNone, plain) < kExact);
  CHECK(distance_with(Fault::kNone, top_2) < kExact);
  CHECK(distance_with(Fault::kNoSubtraction, plain) > 0.01);
  CHECK(distance_with(Fault::kBonusFromWrongRow, plain) > 0.01);
  CHECK(distance_with(Fault::kReusedNumber, plain) > 0.01);
  CHECK(distance_with(Fault::kUnnormalised, top_2) > 0.01);
  CHECK(distance_with(Fault::kSinglePrecision, plain) > 10 * kExact);
  CHECK(distance_with(Fault::kDraftRows, plain) > 0.01);
  CHECK(distance_with(Fault::kRawDraftRow, top_2) > 0.01);
}

TEST_CASE("guard: numbers that do not belong to their round make the second round biased, and the proof sees it") {
  const RoundlessChooserVerifier verifier(Fault::kNone, kQ);
  CHECK(distance_of({.target = kP, .gamma = 2}, kQ, verifier).total_variation > 0.001);
}
