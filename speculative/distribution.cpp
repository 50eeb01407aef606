// distribution(): logits and sampling settings to probabilities.
#include "speculative/distribution.h"

#include <algorithm>
#include <cmath>  // std::exp, std::isfinite, std::isnan

#include "minitorch/base/check.h"

namespace minitorch::spec {
namespace {

bool by_id(const TokenProbability& a, const TokenProbability& b) { return a.id < b.id; }

// The most probable first; ties go to the lowest id.
bool by_probability(const TokenProbability& a, const TokenProbability& b) {
  return a.probability != b.probability ? a.probability > b.probability : a.id < b.id;
}

double sum_of(std::span<const TokenProbability> tokens) {
  double sum = 0.0;
  for (const TokenProbability& token : tokens) sum += token.probability;
  return sum;
}

std::int32_t argmax_of(std::span<const float> logits) {
  MT_CHECK(!logits.empty(), "distribution: expected at least one logit, got none");
  std::size_t best = 0;
  for (std::size_t id = 0; id < logits.size(); ++id) {
    MT_CHECK(!std::isnan(logits[id]), "distribution: logit {} is NaN", id);
    if (logits[id] > logits[best]) best = id;  // strictly larger: ties go to the lowest id
  }
  MT_CHECK(logits[best] != -INFINITY, "distribution: all {} logits are -inf", logits.size());
  MT_CHECK(logits[best] != INFINITY, "distribution: logit {} is inf", best);
  return static_cast<std::int32_t>(best);
}

// exp((logit - largest) / temperature), so that the largest weight is 1. What underflows to 0 is left out.
void weigh(std::span<const float> logits, double largest, double temperature, std::vector<TokenProbability>& tokens) {
  for (std::size_t id = 0; id < logits.size(); ++id) {
    const double weight = std::exp((static_cast<double>(logits[id]) - largest) / temperature);
    if (weight > 0.0) tokens.push_back({.id = static_cast<std::int32_t>(id), .probability = weight});
  }
}

void keep_top_k(std::size_t top_k, std::vector<TokenProbability>& tokens) {
  if (top_k == 0 || top_k >= tokens.size()) return;
  std::nth_element(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(top_k), tokens.end(), by_probability);
  tokens.resize(top_k);
}

// The nucleus of Holtzman et al. 2020, "The curious case of neural text degeneration". Sorting the whole vocabulary
// would cost more than a small model's pass, so only the tokens above a threshold are sorted. The threshold falls until
// the tokens above it have enough probability together.
void keep_top_p(double top_p, std::vector<TokenProbability>& tokens) {
  if (top_p >= 1.0) return;
  const double wanted = top_p * sum_of(tokens);
  auto head = tokens.begin();
  for (double threshold = 1.0 / 64; head != tokens.end(); threshold /= 64) {
    head = std::partition(head, tokens.end(), [&](const TokenProbability& t) { return t.probability >= threshold; });
    if (sum_of({tokens.begin(), head}) >= wanted) break;
  }
  std::sort(tokens.begin(), head, by_probability);
  double sum = 0.0;
  auto end = tokens.begin();
  while (end != head && (end == tokens.begin() || sum < wanted)) sum += (end++)->probability;
  tokens.erase(end, tokens.end());
}

void keep_min_p(double min_p, std::vector<TokenProbability>& tokens) {
  if (min_p <= 0.0) return;
  double largest = 0.0;
  for (const TokenProbability& token : tokens) largest = std::max(largest, token.probability);
  std::erase_if(tokens, [&](const TokenProbability& token) { return token.probability < min_p * largest; });
}

}  // namespace

void check_sampling(const SamplingOptions& options) {
  MT_CHECK(std::isfinite(options.temperature) && options.temperature >= 0.0,
           "sampling: expected a temperature of 0 or a finite number above it, got {}", options.temperature);
  MT_CHECK(options.top_k >= 0, "sampling: expected a top_k of at least 0 (0: all), got {}", options.top_k);
  MT_CHECK(options.top_p >= 0.0 && options.top_p <= 1.0, "sampling: expected a top_p from 0 to 1, got {}",
           options.top_p);
  MT_CHECK(options.min_p >= 0.0 && options.min_p <= 1.0, "sampling: expected a min_p from 0 to 1, got {}",
           options.min_p);
}

double Distribution::probability_of(std::int32_t id) const {
  const auto found = std::lower_bound(tokens.begin(), tokens.end(), TokenProbability{.id = id}, by_id);
  return found != tokens.end() && found->id == id ? found->probability : 0.0;
}

bool Distribution::normalise() {
  const double sum = sum_of(tokens);
  if (!(sum > 0.0)) return false;
  for (TokenProbability& token : tokens) token.probability /= sum;
  return true;
}

void distribution(std::span<const float> logits, const SamplingOptions& options, Distribution& row) {
  check_sampling(options);
  const std::int32_t best = argmax_of(logits);
  row.tokens.clear();
  if (options.temperature == 0.0) {
    row.tokens.push_back({.id = best, .probability = 1.0});
    return;
  }
  weigh(logits, logits[static_cast<std::size_t>(best)], options.temperature, row.tokens);
  keep_top_k(static_cast<std::size_t>(options.top_k), row.tokens);
  keep_top_p(options.top_p, row.tokens);
  keep_min_p(options.min_p, row.tokens);
  // Where nothing was selected the order is still that of the vocabulary, which is long then.
  if (!std::is_sorted(row.tokens.begin(), row.tokens.end(), by_id)) {
    std::sort(row.tokens.begin(), row.tokens.end(), by_id);
  }
  row.normalise();
}

Distribution distribution(std::span<const float> logits, const SamplingOptions& options) {
  Distribution row;
  distribution(logits, options, row);
  return row;
}

}  // namespace minitorch::spec
