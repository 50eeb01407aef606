// ReplayDrafter: plays given drafts, one per round. For tests; programs cannot ask for it by name.
#pragma once

#include <utility>
#include <vector>

#include "speculative/drafter.h"

namespace minitorch::spec {

class ReplayDrafter : public Drafter {
 public:
  // Round i of a request gets drafts[i], cut to its first `budget` nodes; rounds behind the last get none.
  explicit ReplayDrafter(std::vector<Draft> drafts) : drafts_(std::move(drafts)) {}

  [[nodiscard]] std::string_view name() const override { return "replay"; }
  void reset() override;
  void propose(const DraftRequest& request, Draft& draft) override;
  void observe(std::span<const std::int32_t> history, const Draft& draft, const Verdict& verdict) override;

  // What was decided about the drafts of this request; the last round of a text is not observed.
  [[nodiscard]] const std::vector<Verdict>& verdicts() const { return verdicts_; }

 private:
  std::vector<Draft> drafts_;
  std::vector<Verdict> verdicts_;
  std::size_t round_ = 0;
};

}  // namespace minitorch::spec
