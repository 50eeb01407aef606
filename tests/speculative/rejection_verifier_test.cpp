// Verifier "rejection": the ratios it asks for and the weights it draws from, decision by decision.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>  // std::log
#include <deque>
#include <vector>

#include "minitorch/base/error.h"
#include "tests/speculative/helpers.h"

using namespace minitorch;
using namespace minitorch::spec;
using test::Ids;

namespace {

// Gives prescribed answers and notes what it was asked.
class ScriptedChooser : public Chooser {
 public:
  explicit ScriptedChooser(std::deque<bool> answers) : answers_(std::move(answers)) {}

  [[nodiscard]] bool accept(std::int32_t node, double numerator, double denominator) override {
    nodes.push_back(node);
    ratios.push_back(numerator / denominator);
    const bool answer = answers_.at(0);
    answers_.pop_front();
    return answer;
  }
  [[nodiscard]] std::size_t draw(std::int32_t node, Purpose purpose, std::span<const TokenProbability> row) override {
    CHECK(purpose == Purpose::kNext);
    drawn_behind = node;
    weights.assign(row.begin(), row.end());
    const auto largest = std::max_element(row.begin(), row.end(),
                                          [](const auto& a, const auto& b) { return a.probability < b.probability; });
    return static_cast<std::size_t>(largest - row.begin());
  }
  [[nodiscard]] std::size_t sample(std::int64_t /*position*/, std::span<const TokenProbability> /*row*/) override {
    FAIL("rejection never uses the noise of positions");
    return 0;
  }

  Ids nodes;
  std::vector<double> ratios;
  std::int32_t drawn_behind = -2;
  std::vector<TokenProbability> weights;

 private:
  std::deque<bool> answers_;
};

const SamplingOptions kPlain{.temperature = 1.0};

// Rows of the target behind the last token and behind every node.
models::Outputs outputs_of(const std::vector<std::vector<double>>& rows) {
  std::vector<float> logits;
  models::Outputs outputs;
  for (const std::vector<double>& row : rows) {
    outputs.logits_row.push_back(static_cast<std::int32_t>(outputs.logits_row.size()));
    for (const double p : row) logits.push_back(static_cast<float>(std::log(p)));
  }
  outputs.logits =
      Tensor::from(logits, {static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(rows[0].size())});
  return outputs;
}

Distribution row_of(const std::vector<double>& probabilities) {
  Distribution row;
  for (std::size_t id = 0; id < probabilities.size(); ++id) {
    if (probabilities[id] > 0) row.tokens.push_back({static_cast<std::int32_t>(id), probabilities[id]});
  }
  return row;
}

Verdict verdict_on(const Draft& draft, const std::vector<std::vector<double>>& rows, ScriptedChooser& chooser) {
  const models::Outputs outputs = outputs_of(rows);
  Distribution buffer;
  Verdict verdict{.path = {9}, .next_token = 9};
  find_verifier("rejection").make()->verify(draft, TargetRows(outputs, 0, kPlain, buffer), chooser, verdict);
  return verdict;
}

void check_weights(const ScriptedChooser& chooser, const std::vector<double>& expected) {
  for (const TokenProbability& weight : chooser.weights) {
    CAPTURE(weight.id);
    CHECK(weight.probability == doctest::Approx(expected[static_cast<std::size_t>(weight.id)]).epsilon(1e-6));
  }
}

const std::vector<double> kFirst{0.5, 0.3, 0.2};
const std::vector<double> kSecond{0.1, 0.1, 0.8};

}  // namespace

TEST_CASE(
    "a drafted token is tested with p / q of its row, and what follows the last accepted one comes from its row") {
  Draft draft;
  Distribution q = row_of({0.25, 0.75, 0.0});
  draft.add_drawn(0, Draft::kRoot, q);
  ScriptedChooser chooser({true});
  const Verdict verdict = verdict_on(draft, {kFirst, kSecond}, chooser);
  CHECK(chooser.ratios[0] == doctest::Approx(2.0).epsilon(1e-6));
  CHECK(verdict.path == Ids{0});
  CHECK(verdict.next_token == 2);
  CHECK(chooser.drawn_behind == 0);
  check_weights(chooser, kSecond);
}

TEST_CASE("behind a rejection max(p - q, 0) is drawn from, and nothing behind the rejected node is looked at") {
  Draft draft;
  Distribution q = row_of({0.2, 0.7, 0.1});
  draft.add_drawn(1, Draft::kRoot, q);
  q = row_of({1.0, 0.0, 0.0});
  draft.add_drawn(0, 0, q);
  ScriptedChooser chooser({false});
  const Verdict verdict = verdict_on(draft, {kFirst, kSecond, kSecond}, chooser);
  CHECK(chooser.nodes == Ids{0});
  CHECK(chooser.ratios[0] == doctest::Approx(0.3 / 0.7).epsilon(1e-6));
  CHECK(verdict.path.empty());
  CHECK(verdict.next_token == 0);
  CHECK(chooser.drawn_behind == Draft::kRoot);
  check_weights(chooser, {0.75, 0.0, 0.25});
}

TEST_CASE("a token that was not drawn stands with probability p, and is taken out of p where it does not") {
  ScriptedChooser chooser({false});
  const Verdict verdict = verdict_on(test::chain({0, 1}), {kFirst, kSecond, kSecond}, chooser);
  CHECK(chooser.ratios[0] == doctest::Approx(0.5).epsilon(1e-6));
  CHECK(verdict.next_token == 1);
  check_weights(chooser, {0.0, 0.6, 0.4});
}

TEST_CASE("siblings are tested in turn against what is left, and an accepted one's own children follow") {
  // 0:0  1:1  2:2(0)  3:2(1): the first is rejected with its child, the second stands, then its child is rejected.
  const Draft draft{.tokens = {0, 1, 2, 2}, .parent = {-1, -1, 0, 1}};
  ScriptedChooser chooser({false, true, false});
  const Verdict verdict = verdict_on(draft, {kFirst, kSecond, kSecond, kSecond, kSecond}, chooser);
  CHECK(chooser.nodes == Ids{0, 1, 3});
  CHECK(chooser.ratios[1] == doctest::Approx(0.6).epsilon(1e-6));
  CHECK(chooser.ratios[2] == doctest::Approx(0.8).epsilon(1e-6));
  CHECK(verdict.path == Ids{1});
  CHECK(chooser.drawn_behind == 1);
  check_weights(chooser, {0.5, 0.5, 0.0});
}

TEST_CASE("a token that its row says was impossible is reported: the draft would bias the text") {
  Draft draft;
  Distribution q = row_of({0.0, 1.0, 0.0});
  draft.add_drawn(0, Draft::kRoot, q);
  ScriptedChooser chooser({});
  CHECK_THROWS_WITH_AS(verdict_on(draft, {kFirst, kSecond}, chooser),
                       "verifier rejection: node 0 of the draft carries token 0, which has probability 0 in its row",
                       Error);
}

TEST_CASE("rows of a former draft are not taken for those of the next one") {
  Draft draft;
  Distribution q = row_of({0.5, 0.5, 0.0});
  draft.add_drawn(0, Draft::kRoot, q);
  CHECK(draft.drawn_from(0) != nullptr);
  draft.clear();
  draft.add(0, Draft::kRoot);
  CHECK(draft.drawn_from(0) == nullptr);
  draft.add_drawn(1, 0, q);
  CHECK(draft.drawn_from(0) == nullptr);
}
