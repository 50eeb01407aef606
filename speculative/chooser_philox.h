// PhiloxChooser: the Chooser of production, a counter-based generator.
#pragma once

#include "minitorch/base/philox.h"
#include "speculative/chooser.h"

namespace minitorch::spec {

// Numbers of a round have the counter {node, purpose, committed tokens, sample index} under the seed as key; noise of a
// position has {id / 2, kNoise, position, sample index}, whose two uniforms serve the even and the odd id. The sample
// index keeps several samples of one prompt and seed apart; a Session makes one, number 0.
class PhiloxChooser : public Chooser {
 public:
  explicit PhiloxChooser(std::uint64_t seed, std::uint32_t sample_index = 0);

  [[nodiscard]] bool accept(std::int32_t node, double numerator, double denominator) override;
  [[nodiscard]] std::size_t draw(std::int32_t node, Purpose purpose,
                                 std::span<const TokenProbability> weights) override;
  // argmax of ln p + Gumbel noise, written as an exponential race: -ln(u) / p is smallest where ln p - ln(-ln u) is
  // largest (Gumbel 1954; Daliri et al. 2024, arXiv 2408.07978, for sharing the noise). Ties go to the first index.
  [[nodiscard]] std::size_t sample(std::int64_t position, std::span<const TokenProbability> row) override;

 private:
  static constexpr std::uint32_t kNoise = 16;  // beside the purposes

  [[nodiscard]] double uniform(std::int32_t node, Purpose purpose) const;

  PhiloxKey key_;
  std::uint32_t sample_index_;
};

}  // namespace minitorch::spec
