// Verifier "greedy": walks down the tree along the target's argmax. Exact at temperature 0: every token emitted is the
// argmax behind the tokens before it, whatever was drafted.
#include "minitorch/base/check.h"
#include "speculative/verifiers/all.h"
#include "speculative/verifiers/follow.h"

namespace minitorch::spec {
namespace {

class GreedyVerifier : public Verifier {
 public:
  [[nodiscard]] std::string_view name() const override { return "greedy"; }
  [[nodiscard]] models::Want want() const override { return models::Want::kArgmax; }
  [[nodiscard]] DraftSampling draft_sampling() const override { return DraftSampling::kArgmax; }
  void check(const SamplingOptions& sampling) const override {
    MT_CHECK(sampling.temperature == 0.0, "verifier greedy: expected temperature 0, got {}", sampling.temperature);
  }
  [[nodiscard]] bool lossless() const override { return true; }
  [[nodiscard]] bool same_text_as_plain(const SamplingOptions& /*sampling*/) const override { return true; }

  void verify(const Draft& draft, const TargetRows& rows, Chooser& /*chooser*/, Verdict& verdict) const override {
    check(rows.sampling());
    follow(
        draft, [&](std::int32_t node) { return rows.argmax_behind(node); }, verdict);
  }
};

}  // namespace

std::unique_ptr<Verifier> make_greedy_verifier() { return std::make_unique<GreedyVerifier>(); }

}  // namespace minitorch::spec
