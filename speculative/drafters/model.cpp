// Drafter "model": a second, smaller language model with a KV cache of its own proposes the chain it would say itself
// (Leviathan et al. 2023, Chen et al. 2023), drawn with the target's sampling settings in the way the verifier asks
// for.
#include <algorithm>
#include <iterator>

#include "minitorch/base/check.h"
#include "models/causal_lm.h"
#include "speculative/drafters/all.h"

namespace minitorch::spec {
namespace {

constexpr std::int32_t kPrefillChunk = 256;  // rows per pass over a prompt
// Slots whose pages are taken at once. Further ones are taken when needed: a context of 131072 tokens can mean 4 GB.
constexpr std::int32_t kReservedSlots = 4096;

std::int32_t size_of(std::span<const std::int32_t> ids) { return static_cast<std::int32_t>(ids.size()); }

// The ids that both models can generate.
models::ValidIds common_ids(const models::CausalLM& a, const models::CausalLM& b) {
  models::ValidIds ids;
  ids.limit = std::min({a.vocab_size(), a.valid_ids().limit, b.vocab_size(), b.valid_ids().limit});
  std::set_union(a.valid_ids().holes.begin(), a.valid_ids().holes.end(), b.valid_ids().holes.begin(),
                 b.valid_ids().holes.end(), std::back_inserter(ids.holes));
  std::erase_if(ids.holes, [&](std::int32_t id) { return id < 0 || id >= ids.limit; });
  MT_CHECK(size_of(ids.holes) < ids.limit, "drafter model: draft and target have no id in common");
  return ids;
}

class ModelDrafter : public Drafter {
 public:
  explicit ModelDrafter(models::CausalLM& model) : model_(model), cache_(model.make_cache(model.max_context())) {
    cache_.reserve(std::min(cache_.capacity(), kReservedSlots));
  }

  [[nodiscard]] std::string_view name() const override { return "model"; }
  // The cache stays: what the next request shares with it is not computed again.
  void reset() override { in_step_ = 0; }

  void propose(const DraftRequest& request, Draft& draft) override {
    const std::span<const std::int32_t> history = request.history;
    // The last drafted token is not computed, so it may stand one behind the context.
    const std::int32_t count = std::min(request.budget, model_.max_context() - size_of(history) + 1);
    if (count <= 0) return;
    keep_common_prefix(history);
    const auto lacking = history.subspan(static_cast<std::size_t>(in_step_));
    if (!can_read(lacking)) return;
    if (!add_token_behind(lacking, request, draft)) return;
    while (draft.size() < count && add_token_behind({&draft.tokens.back(), 1}, request, draft)) continue;
  }

  void observe(std::span<const std::int32_t> history, [[maybe_unused]] const Draft& draft,
               [[maybe_unused]] const Verdict& verdict) override {
    keep_common_prefix(history);
    // Only the target's own token is lacking, and where all was accepted also the last drafted one.
    MT_DCHECK(draft.empty() || cache_.length() == size_of(history) - (size_of(verdict.path) == draft.size() ? 2 : 1));
  }

 private:
  // Cuts the cache down to what the history begins with. The last token is computed in any case: its row yields the
  // first drafted one. Comparing tokens instead of counting them cannot be off by one.
  void keep_common_prefix(std::span<const std::int32_t> history) {
    const auto given = history.first(history.size() - 1);
    const auto cached = cache_.tokens().first(static_cast<std::size_t>(cache_.length()));
    const std::int32_t known = std::min(in_step_, size_of(given));
    in_step_ = static_cast<std::int32_t>(
        std::mismatch(given.begin() + known, given.end(), cached.begin() + known, cached.end()).first - given.begin());
    cache_.truncate(in_step_);
  }

  // Whether the model has embeddings for all these ids; a target with a larger vocabulary may say others.
  [[nodiscard]] bool can_read(std::span<const std::int32_t> ids) const {
    const std::int32_t vocab_size = model_.vocab_size();
    return std::all_of(ids.begin(), ids.end(), [&](std::int32_t id) { return id >= 0 && id < vocab_size; });
  }

  // Lengthens the chain by what the model says behind the cache and `tokens`. False: stopped before that.
  bool add_token_behind(std::span<const std::int32_t> tokens, const DraftRequest& request, Draft& draft) {
    const std::int32_t node = draft.size();
    const std::int32_t parent = node - 1;  // Draft::kRoot for the first
    const bool greedy = request.how == DraftSampling::kArgmax;
    if (!compute(tokens, greedy ? models::Want::kArgmax : models::Want::kLogits, request.stop_requested)) return false;
    if (greedy) {
      draft.add(outputs_.argmax.back(), parent);
      return true;
    }
    distribution(outputs_.logits_of(static_cast<std::int32_t>(batch_.rows.size()) - 1), request.sampling, row_);
    if (request.how == DraftSampling::kCoupled) {
      const std::size_t index = request.chooser->sample(size_of(request.history) + node, row_.tokens);
      draft.add(row_.tokens[index].id, parent);
    } else {
      const std::size_t index = request.chooser->draw(node, Purpose::kDraft, row_.tokens);
      draft.add_drawn(row_.tokens[index].id, parent, row_);
    }
    return true;
  }

  // Computes `tokens` (at least one) behind the cache; the last row has what is wanted. One pass unless a prompt needs
  // more. False: stopped between two passes.
  bool compute(std::span<const std::int32_t> tokens, models::Want want, const std::atomic<bool>* stop_requested) {
    while (!tokens.empty()) {
      if (stop_requested != nullptr && stop_requested->load(std::memory_order_relaxed)) return false;
      const auto chunk = tokens.first(std::min(tokens.size(), static_cast<std::size_t>(kPrefillChunk)));
      tokens = tokens.subspan(chunk.size());
      batch_.clear();
      batch_.caches.assign(1, &cache_);
      static_cast<void>(batch_.add_chain(0, chunk));
      outputs_.want.assign(chunk.size(), models::Want::kNone);
      if (tokens.empty()) outputs_.want.back() = want;
      model_.forward(batch_, outputs_);
      cache_.keep_chain();
    }
    return true;
  }

  models::CausalLM& model_;
  models::KVCache cache_;
  std::int32_t in_step_ = 0;  // tokens at the beginning of the cache known to be those of this request
  // Kept from round to round, so that their memory is reused.
  models::Batch batch_;
  models::Outputs outputs_;
  Distribution row_;
};

}  // namespace

std::unique_ptr<Drafter> make_model_drafter(const DrafterOptions& options) {
  MT_CHECK(options.draft_model != nullptr && options.target_model != nullptr,
           "drafter model: expected a draft model and its target, got {}",
           options.draft_model == nullptr ? "no draft model" : "no target");
  options.draft_model->restrict_ids(common_ids(*options.draft_model, *options.target_model));
  return std::make_unique<ModelDrafter>(*options.draft_model);
}

}  // namespace minitorch::spec
