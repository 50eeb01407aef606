// Verifier "rejection": speculative sampling by rejection (Leviathan et al. 2023, arXiv 2211.17192, algorithm 1; Chen
// et al. 2023, arXiv 2302.01318, algorithm 2). A drafted token x stands with probability min(1, p(x) / q(x)); where it
// does not, the next token is drawn from r = max(p - q, 0), normalised. What is emitted has the distribution p exactly,
// when q is what x was drawn from: a token x comes out with probability
//   q(x) min(1, p(x) / q(x)) + (1 - b) r(x),   where b = sum over y of min(p(y), q(y)) is how often any draft stands.
// The first term is min(p(x), q(x)); max(p - q, 0) = p - min(p, q) sums to 1 - b, so the second is p(x) - min(p(x),
// q(x)).
//
// Siblings are tested in turn, each against what the ones before it left of p (Miao et al. 2023, SpecInfer, arXiv
// 2305.09781, for several candidates); a chain has one child everywhere. Siblings carry different tokens, so a second
// one was drawn from the row without the first one's token, and that is its q. A token that was not drawn has q = 1: it
// stands with probability p(x), and is taken out of p where it does not.
#include <algorithm>
#include <cstddef>

#include "minitorch/base/check.h"
#include "speculative/verifiers/all.h"

namespace minitorch::spec {
namespace {

// Calls use(token of p, max(p - q, 0)) for every token of p. The ids of both rows ascend, so they are walked together.
template <typename Use>
void for_each_residual(const Distribution& q, Distribution& p, Use use) {
  auto other = q.tokens.begin();
  for (TokenProbability& token : p.tokens) {
    while (other != q.tokens.end() && other->id < token.id) ++other;
    const bool found = other != q.tokens.end() && other->id == token.id;
    use(token, std::max(token.probability - (found ? other->probability : 0.0), 0.0));
  }
}

// p := max(p - q, 0), normalised. Nothing is left only where p and q are equal up to rounding; such a rejection has a
// probability of that order, and p stays as it is.
void subtract(const Distribution& q, Distribution& p) {
  double left = 0.0;
  for_each_residual(q, p, [&](const TokenProbability& /*token*/, double residual) { left += residual; });
  if (!(left > 0.0)) return;
  for_each_residual(q, p, [&](TokenProbability& token, double residual) { token.probability = residual / left; });
}

// The same for q = 1 at one token.
void take_out(std::int32_t id, Distribution& p) {
  for (TokenProbability& token : p.tokens) {
    if (token.id == id) token.probability = 0.0;
  }
  static_cast<void>(p.normalise());
}

class RejectionVerifier : public Verifier {
 public:
  [[nodiscard]] std::string_view name() const override { return "rejection"; }
  [[nodiscard]] models::Want want() const override { return models::Want::kLogits; }
  [[nodiscard]] DraftSampling draft_sampling() const override { return DraftSampling::kIndependent; }
  void check(const SamplingOptions& /*sampling*/) const override {}
  [[nodiscard]] bool lossless() const override { return true; }
  // At temperature 0 there is nothing to draw.
  [[nodiscard]] bool same_text_as_plain(const SamplingOptions& sampling) const override {
    return sampling.temperature == 0.0;
  }

  void verify(const Draft& draft, const TargetRows& rows, Chooser& chooser, Verdict& verdict) const override {
    verdict.path.clear();
    std::int32_t last = Draft::kRoot;
    Distribution* p = &rows.distribution_behind(last);
    // Children stand behind their parents, so one pass over the nodes is the walk down the tree.
    for (std::int32_t node = 0; node < draft.size(); ++node) {
      if (draft.parent[static_cast<std::size_t>(node)] != last) continue;
      const std::int32_t token = draft.tokens[static_cast<std::size_t>(node)];
      const Distribution* q = draft.drawn_from(node);
      MT_CHECK(q == nullptr || q->probability_of(token) > 0.0,
               "verifier rejection: node {} of the draft carries token {}, which has probability 0 in its row", node,
               token);
      if (chooser.accept(node, p->probability_of(token), q == nullptr ? 1.0 : q->probability_of(token))) {
        verdict.path.push_back(node);
        last = node;
        p = &rows.distribution_behind(last);
      } else if (q != nullptr) {
        subtract(*q, *p);
      } else {
        take_out(token, *p);
      }
    }
    verdict.next_token = p->tokens[chooser.draw(last, Purpose::kNext, p->tokens)].id;
  }
};

}  // namespace

std::unique_ptr<Verifier> make_rejection_verifier() { return std::make_unique<RejectionVerifier>(); }

}  // namespace minitorch::spec
