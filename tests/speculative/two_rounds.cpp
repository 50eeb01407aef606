// Enumerating two rounds.
#include "tests/speculative/two_rounds.h"

#include <algorithm>
#include <cmath>  // std::log, std::exp, std::abs
#include <map>
#include <numeric>

#include "minitorch/base/philox.h"
#include "speculative/chooser_enumerating.h"

namespace minitorch::test {
namespace {

using Ids = std::vector<std::int32_t>;

constexpr std::int32_t kContext = 32;
const Ids kPrompt{0};

std::vector<float> logits_of(const std::vector<double>& probabilities) {
  std::vector<float> logits;
  for (const double p : probabilities) logits.push_back(static_cast<float>(std::log(p)));  // -inf for 0
  return logits;
}

// What plain sampling draws from, written down independently of distribution(): sort, cut, divide.
std::vector<double> plain_row(const std::vector<double>& probabilities, const spec::SamplingOptions& sampling) {
  std::vector<double> weights;
  for (const float logit : logits_of(probabilities)) weights.push_back(std::exp(double{logit} / sampling.temperature));
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
  const auto cut = [&](std::size_t count) {
    for (std::size_t rank = count; rank < order.size(); ++rank) weights[order[rank]] = 0.0;
  };
  if (sampling.top_k > 0) cut(static_cast<std::size_t>(sampling.top_k));
  const double wanted = sampling.top_p * std::accumulate(weights.begin(), weights.end(), 0.0);
  double sum = 0.0;
  std::size_t count = 0;
  while (count < order.size() && sum < wanted) sum += weights[order[count++]];
  cut(std::max<std::size_t>(count, 1));
  const double largest = weights[order.front()];
  for (double& weight : weights) weight = weight < sampling.min_p * largest ? 0.0 : weight;
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= total;
  return weights;
}

// The texts of two rounds with their probabilities.
class Texts {
 public:
  explicit Texts(const TwoRounds& rounds) {
    for (const std::vector<double>& row : rounds.target) rows_.push_back(plain_row(row, rounds.sampling));
  }

  void add(const Ids& text, double weight) { weight_of_[text] += weight; }

  // Texts that are shorter than `length` go on plainly.
  [[nodiscard]] double total_variation(std::size_t length) const {
    Ids text;
    return walk(text, /*behind=*/kPrompt.back(), /*emitted=*/0.0, /*plain=*/1.0, length) / 2;
  }

 private:
  // Sum of |emitted - plain| over all texts that begin with `text`; both are its probabilities.
  double walk(Ids& text, std::int32_t behind, double emitted, double plain, std::size_t length) const {
    if (const auto found = weight_of_.find(text); found != weight_of_.end()) emitted += found->second;
    if (text.size() == length) return std::abs(emitted - plain);
    double sum = 0.0;
    for (std::size_t id = 0; id < rows_.size(); ++id) {
      const double p =
          text.empty() ? (id == 0 ? 1.0 : 0.0) : rows_[static_cast<std::size_t>(behind)][id];  // model_of()
      text.push_back(static_cast<std::int32_t>(id));
      sum += walk(text, text.back(), emitted * p, plain * p, length);
      text.pop_back();
    }
    return sum;
  }

  std::vector<std::vector<double>> rows_;
  std::map<Ids, double> weight_of_;
};

}  // namespace

ScriptedModel model_of(const Table& table) {
  std::vector<std::vector<float>> logits;
  for (const std::vector<double>& row : table) logits.push_back(logits_of(row));
  const auto vocab_size = static_cast<std::int32_t>(table.size());
  return {vocab_size, kContext, [logits](ScriptedModel::Prefix prefix, std::span<float> out) {
            if (prefix.size() == 1) {
              std::fill(out.begin(), out.end(), -INFINITY);
              out[0] = 0.0f;
            } else {
              const std::vector<float>& row = logits[static_cast<std::size_t>(prefix.back())];
              std::copy(row.begin(), row.end(), out.begin());
            }
          }};
}

Table random_table(std::int32_t vocab_size, std::uint64_t seed) {
  PhiloxStream random(seed);
  const auto size = static_cast<std::size_t>(vocab_size);
  Table table(size, std::vector<double>(size));
  for (std::vector<double>& row : table) {
    for (double& p : row) p = random.below(5) == 0 ? 0.0 : 0.05 + random.uniform();
    row[random.below(static_cast<std::uint32_t>(vocab_size))] += 0.3;  // no row is all 0
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    for (double& p : row) p /= sum;
  }
  return table;
}

Distance distance_of(const TwoRounds& rounds, spec::Drafter& drafter, const spec::Verifier& verifier,
                     models::CausalLM& target) {
  spec::EnumeratingChooser chooser;
  spec::Session session(target, nullptr, &drafter, verifier);
  spec::GenerateOptions options;
  options.gamma = rounds.gamma;
  options.max_new_tokens = 1 + 2 * (rounds.gamma + 1);  // room for whole drafts in both rounds
  options.sampling = rounds.sampling;
  options.chooser = &chooser;
  Texts texts(rounds);
  Distance distance;
  while (chooser.next()) {
    int ended_rounds = 0;
    const spec::GenerateResult result = session.generate(kPrompt, options, [&](const spec::TokenEvent& event) {
      const bool own = event.origin == spec::TokenOrigin::kCorrected || event.origin == spec::TokenOrigin::kBonus;
      ended_rounds += own ? 1 : 0;
      return ended_rounds < 2;
    });
    texts.add(result.ids, chooser.weight());
    distance.accepted += chooser.weight() * static_cast<double>(result.stats.accepted);
    distance.weight += chooser.weight();
    ++distance.outcomes;
  }
  distance.total_variation = texts.total_variation(static_cast<std::size_t>(options.max_new_tokens));
  return distance;
}

}  // namespace minitorch::test
