// EnumeratingChooser: depth-first over all decisions, by running the program again with the first of them fixed.
#include "speculative/chooser_enumerating.h"

#include <algorithm>

#include "minitorch/base/check.h"

namespace minitorch::spec {

bool EnumeratingChooser::next() {
  if (started_) {
    while (!choice_.empty() && further_.back() == 0) {
      choice_.pop_back();
      further_.pop_back();
    }
    if (choice_.empty()) return false;
    choice_.back() = further_.back();
  }
  started_ = true;
  weight_ = 1.0;
  depth_ = 0;
  known_.clear();
  positions_.clear();
  return true;
}

bool EnumeratingChooser::accept(std::int32_t node, double numerator, double denominator) {
  MT_CHECK(numerator >= 0.0 && denominator >= 0.0, "accept: expected numbers of at least 0, got {} and {}", numerator,
           denominator);
  const double ratio = numerator >= denominator ? (numerator > 0.0 ? 1.0 : 0.0) : numerator / denominator;
  borders_.assign({0.0, ratio, 1.0});
  return decide(known_[{committed(), node, Purpose::kAccept}], borders_) == 0;
}

std::size_t EnumeratingChooser::draw(std::int32_t node, Purpose purpose, std::span<const TokenProbability> weights) {
  return draw_within(known_[{committed(), node, purpose}], weights);
}

std::size_t EnumeratingChooser::sample(std::int64_t position, std::span<const TokenProbability> row) {
  MT_CHECK(positions_.insert(position).second, "sample: the noise of position {} was looked at before", position);
  Interval whole;
  return draw_within(whole, row);
}

std::size_t EnumeratingChooser::draw_within(Interval& known, std::span<const TokenProbability> weights) {
  double total = 0.0;
  for (const TokenProbability& weight : weights) total += weight.probability;
  MT_CHECK(total > 0.0, "draw: expected a positive sum of weights, got {}", total);
  borders_.assign(1, 0.0);
  double sum = 0.0;
  for (const TokenProbability& weight : weights) {
    sum += weight.probability;
    borders_.push_back(sum == total ? 1.0 : sum / total);  // what follows the last positive weight is empty
  }
  return decide(known, borders_);
}

// In which part [borders[i], borders[i + 1]) the number lies, of those that overlap with what is known of it.
std::size_t EnumeratingChooser::decide(Interval& known, std::span<const double> borders) {
  const auto overlap = [&](std::size_t part) {
    return Interval{.low = std::max(known.low, borders[part]), .high = std::min(known.high, borders[part + 1])};
  };
  const auto possible_from = [&](std::size_t part) {
    while (part + 1 < borders.size() && overlap(part).low >= overlap(part).high) ++part;
    return part + 1 < borders.size() ? part : 0;
  };
  if (depth_ == choice_.size()) {
    choice_.push_back(possible_from(0));
    further_.push_back(0);
  }
  const std::size_t part = choice_[depth_];
  further_[depth_] = possible_from(part + 1);
  ++depth_;
  const Interval chosen = overlap(part);
  weight_ *= (chosen.high - chosen.low) / (known.high - known.low);
  known = chosen;
  return part;
}

}  // namespace minitorch::spec
