// Drafter "ngram": prompt look-up decoding (Saxena 2023) over prompt and output. It finds the most recent earlier
// occurrence of the longest suffix of the text and proposes what followed it; where the same suffix once went on
// differently, that too, as a branch.
#include "speculative/drafters/all.h"
#include "speculative/drafters/ngram_index.h"

namespace minitorch::spec {
namespace {

class NgramDrafter : public Drafter {
 public:
  explicit NgramDrafter(const DrafterOptions& options)
      : index_(options.min_ngram, options.max_ngram), branch_share_(options.branch_share) {}

  [[nodiscard]] std::string_view name() const override { return "ngram"; }
  void reset() override { index_.clear(); }

  void propose(const DraftRequest& request, Draft& draft) override {
    const auto [history, budget] = std::pair(request.history, request.budget);
    index_.extend(history);
    const NgramIndex::Continuations next = index_.find(history);
    if (next.recent < 0) return;
    const std::int32_t branch = next.other < 0 || branch_share_ <= 0 ? 0 : budget / branch_share_;
    copy(history, next.recent, budget - branch, draft);
    if (branch > 0) copy(history, next.other, branch, draft);
  }

  void observe(std::span<const std::int32_t> /*history*/, const Draft& /*draft*/, const Verdict& /*verdict*/) override {
  }

 private:
  // Adds a chain of `count` tokens that repeats the history from `from` on. Behind the end of the history it goes on
  // with its own first tokens, so that a short loop is drafted to any length.
  static void copy(std::span<const std::int32_t> history, std::int32_t from, std::int32_t count, Draft& draft) {
    const std::int32_t start = draft.size();
    const auto end = static_cast<std::int32_t>(history.size());
    std::int32_t parent = Draft::kRoot;
    for (std::int32_t i = 0; i < count; ++i) {
      const std::int32_t source = from + i;
      const std::int32_t token = source < end ? history[static_cast<std::size_t>(source)]
                                              : draft.tokens[static_cast<std::size_t>(start + source - end)];
      parent = draft.add(token, parent);
    }
  }

  NgramIndex index_;
  std::int32_t branch_share_;
};

}  // namespace

std::unique_ptr<Drafter> make_ngram_drafter(const DrafterOptions& options) {
  return std::make_unique<NgramDrafter>(options);
}

}  // namespace minitorch::spec
