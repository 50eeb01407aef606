// Verifier "greedy": walks down the tree along the target's argmax. Exact at temperature 0: every token emitted is the
// argmax behind the tokens before it, whatever was drafted.
#include "minitorch/base/check.h"
#include "speculative/verifiers/all.h"

namespace minitorch::spec {
namespace {

class GreedyVerifier : public Verifier {
 public:
  [[nodiscard]] std::string_view name() const override { return "greedy"; }
  [[nodiscard]] models::Want want() const override { return models::Want::kArgmax; }
  [[nodiscard]] bool lossless() const override { return true; }
  [[nodiscard]] bool same_text_as_plain() const override { return true; }

  void verify(const Draft& draft, const TargetRows& rows, const SamplingOptions& options, Chooser& /*chooser*/,
              Verdict& verdict) const override {
    check_supported(options);
    verdict.path.clear();
    std::int32_t last = Draft::kRoot;
    std::int32_t wanted = argmax_behind(rows, last);
    // Children stand behind their parents and siblings differ in token, so one pass over the nodes finds the whole
    // path.
    for (std::int32_t node = 0; node < draft.size(); ++node) {
      const auto index = static_cast<std::size_t>(node);
      if (draft.parent[index] != last || draft.tokens[index] != wanted) continue;
      verdict.path.push_back(node);
      last = node;
      wanted = argmax_behind(rows, last);
    }
    verdict.next_token = wanted;
  }

 private:
  static std::int32_t argmax_behind(const TargetRows& rows, std::int32_t node) {
    const auto row = static_cast<std::size_t>(rows.row_of(node));
    MT_CHECK(row < rows.outputs.argmax.size() && rows.outputs.argmax[row] >= 0,
             "greedy verifier: the target gave no argmax for row {}", row);
    return rows.outputs.argmax[row];
  }
};

}  // namespace

std::unique_ptr<Verifier> make_greedy_verifier() { return std::make_unique<GreedyVerifier>(); }

}  // namespace minitorch::spec
