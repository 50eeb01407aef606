// GenerationStats: the derived figures and the sum over several generations.
#include "speculative/stats.h"

namespace minitorch::spec {
namespace {

std::optional<double> ratio(double numerator, double denominator) {
  if (!(denominator > 0)) return std::nullopt;
  return numerator / denominator;
}

}  // namespace

std::optional<double> GenerationStats::acceptance_rate() const {
  return ratio(static_cast<double>(accepted), static_cast<double>(proposed));
}

std::optional<double> GenerationStats::tokens_per_pass() const {
  return ratio(static_cast<double>(pass_tokens()), static_cast<double>(target_passes));
}

std::optional<double> GenerationStats::nodes_per_pass() const {
  return ratio(static_cast<double>(proposed), static_cast<double>(target_passes));
}

std::optional<double> GenerationStats::depth_per_pass() const {
  return ratio(static_cast<double>(drafted_depth), static_cast<double>(target_passes));
}

std::optional<double> GenerationStats::tokens_per_s() const {
  if (target_passes == 0) return std::nullopt;
  return ratio(static_cast<double>(pass_tokens()), decode_s);
}

GenerationStats& GenerationStats::operator+=(const GenerationStats& other) {
  generations += other.generations;
  prompt_tokens += other.prompt_tokens;
  reused_tokens += other.reused_tokens;
  tokens += other.tokens;
  target_passes += other.target_passes;
  proposed += other.proposed;
  drafted_depth += other.drafted_depth;
  accepted += other.accepted;
  rows += other.rows;
  prefill_s += other.prefill_s;
  decode_s += other.decode_s;
  draft_s += other.draft_s;
  verify_s += other.verify_s;
  return *this;
}

}  // namespace minitorch::spec
