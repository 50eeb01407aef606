// PhiloxChooser: the Chooser of production, a counter-based generator.
#pragma once

#include "minitorch/base/philox.h"
#include "speculative/chooser.h"

namespace minitorch::spec {

// Numbers are keyed by (seed, sample index, tokens committed at the start of the round, purpose, index within the
// round), so that none looked at in one round is used in another, and rejected work consumes nothing (ARCHITECTURE.md,
// E6).
class PhiloxChooser : public Chooser {
 public:
  explicit PhiloxChooser(std::uint64_t seed, std::uint32_t sample_index = 0);

  void begin_round(std::int64_t committed_tokens);
  [[nodiscard]] bool accept(double numerator, double denominator) override;
  [[nodiscard]] std::int32_t draw(std::span<const double> weights) override;

 private:
  enum class Purpose : std::uint32_t { kAccept = 1, kDraw = 2 };
  [[nodiscard]] double uniform(Purpose purpose);

  PhiloxKey key_;
  std::uint32_t sample_index_;
  std::uint32_t committed_tokens_ = 0;
  std::uint32_t index_ = 0;
};

}  // namespace minitorch::spec
