// PhiloxChooser: random decisions of one round, and the noise of positions.
#include "speculative/chooser_philox.h"

#include <cmath>  // std::log
#include <limits>

#include "minitorch/base/check.h"

namespace minitorch::spec {
namespace {

std::uint32_t as_word(std::int64_t number) {
  MT_CHECK(number >= 0 && number <= std::numeric_limits<std::uint32_t>::max(),
           "chooser: expected a position from 0 to 2^32 - 1, got {}", number);
  return static_cast<std::uint32_t>(number);
}

}  // namespace

PhiloxChooser::PhiloxChooser(std::uint64_t seed, std::uint32_t sample_index)
    : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}, sample_index_(sample_index) {}

bool PhiloxChooser::accept(std::int32_t node, double numerator, double denominator) {
  // u * denominator < numerator needs no division and accepts always when numerator >= denominator, as u < 1.
  return uniform(node, Purpose::kAccept) * denominator < numerator;
}

std::size_t PhiloxChooser::draw(std::int32_t node, Purpose purpose, std::span<const TokenProbability> weights) {
  double total = 0.0;
  std::size_t last = weights.size();  // the last index that can be drawn
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double weight = weights[i].probability;
    MT_CHECK(weight >= 0.0, "draw: weight {} is expected to be at least 0, got {}", i, weight);
    total += weight;
    if (weight > 0.0) last = i;
  }
  MT_CHECK(total > 0.0 && total <= std::numeric_limits<double>::max(),
           "draw: expected a positive finite sum of weights, got {}", total);
  const double target = uniform(node, purpose) * total;
  double sum = 0.0;
  for (std::size_t i = 0; i < last; ++i) {
    sum += weights[i].probability;
    if (target < sum) return i;
  }
  return last;
}

std::size_t PhiloxChooser::sample(std::int64_t position, std::span<const TokenProbability> row) {
  MT_CHECK(!row.empty(), "sample: expected at least one token, got none");
  const std::uint32_t position_word = as_word(position);
  PhiloxCounter words{};
  std::int32_t pair = -1;  // of ids: one counter serves both
  std::size_t first = 0;
  double earliest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::int32_t id = row[i].id;
    if (id / 2 != pair) {
      pair = id / 2;
      words = philox4x32({static_cast<std::uint32_t>(pair), kNoise, position_word, sample_index_}, key_);
    }
    const double u = id % 2 == 0 ? uniform53(words[0], words[1]) : uniform53(words[2], words[3]);
    if (1.0 - u >= earliest * row[i].probability) continue;  // -ln u is larger still: most logarithms are not needed
    const double arrival = -std::log(u) / row[i].probability;
    if (arrival < earliest) {
      earliest = arrival;
      first = i;
    }
  }
  return first;
}

double PhiloxChooser::uniform(std::int32_t node, Purpose purpose) const {
  const PhiloxCounter words = philox4x32(
      {static_cast<std::uint32_t>(node), static_cast<std::uint32_t>(purpose), as_word(committed()), sample_index_},
      key_);
  return uniform53(words[0], words[1]);
}

}  // namespace minitorch::spec
