// Verifier "coupled": walks down the tree along the tokens that plain sampling draws. The noise of a draw belongs to
// its position in the text, so every token emitted is the one that plain sampling with this seed emits there, whatever
// was drafted and however long drafts are. A draft model that draws with the same noise is right often (Daliri, Musco
// and Suresh 2024, "Coupling without communication and drafter-invariant speculative decoding", arXiv 2408.07978).
#include "speculative/verifiers/all.h"
#include "speculative/verifiers/follow.h"

namespace minitorch::spec {
namespace {

class CoupledVerifier : public Verifier {
 public:
  [[nodiscard]] std::string_view name() const override { return "coupled"; }
  [[nodiscard]] models::Want want() const override { return models::Want::kLogits; }
  [[nodiscard]] DraftSampling draft_sampling() const override { return DraftSampling::kCoupled; }
  void check(const SamplingOptions& /*sampling*/) const override {}
  [[nodiscard]] bool lossless() const override { return true; }
  [[nodiscard]] bool same_text_as_plain(const SamplingOptions& /*sampling*/) const override { return true; }

  void verify(const Draft& draft, const TargetRows& rows, Chooser& chooser, Verdict& verdict) const override {
    std::int64_t position = chooser.committed();  // of the token that is wanted; follow() goes on by one each time
    const auto sampled_behind = [&](std::int32_t node) {
      const Distribution& row = rows.distribution_behind(node);
      return row.tokens[chooser.sample(position++, row.tokens)].id;
    };
    follow(draft, sampled_behind, verdict);
  }
};

}  // namespace

std::unique_ptr<Verifier> make_coupled_verifier() { return std::make_unique<CoupledVerifier>(); }

}  // namespace minitorch::spec
