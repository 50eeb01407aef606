// Session: prefill, then rounds of draft, one target pass over the draft tree, verdict and commit.
#include "speculative/session.h"

#include <algorithm>

#include "minitorch/base/check.h"
#include "speculative/chooser_philox.h"
#include "speculative/delivery.h"
#include "speculative/stopwatch.h"

namespace minitorch::spec {
namespace {

// Tokens for which memory is taken at the beginning; a limit of billions is no reason to.
constexpr std::int32_t kMostReserved = 1 << 20;

bool stop_requested(const GenerateOptions& options) {
  return options.stop_requested != nullptr && options.stop_requested->load(std::memory_order_relaxed);
}

std::int32_t size_of(std::span<const std::int32_t> ids) { return static_cast<std::int32_t>(ids.size()); }

}  // namespace

std::string_view name_of(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStop: return "stop";
    case FinishReason::kLength: return "length";
    case FinishReason::kContext: return "context";
    case FinishReason::kAborted: return "aborted";
  }
  return "?";
}

Session::Session(models::CausalLM& target, const models::Tokenizer* tokenizer, Drafter* drafter,
                 const Verifier& verifier)
    : target_(target),
      tokenizer_(tokenizer),
      drafter_(drafter),
      verifier_(&verifier),
      cache_(target.make_cache(target.max_context())) {}

void Session::check_request(std::span<const std::int32_t> prompt, const GenerateOptions& options) const {
  check_sampling(options.sampling);
  verifier_->check(options.sampling);
  MT_CHECK(options.max_new_tokens >= 1, "generate: expected max_new_tokens of at least 1, got {}",
           options.max_new_tokens);
  MT_CHECK(options.gamma >= 0, "generate: expected gamma of at least 0, got {}", options.gamma);
  MT_CHECK(options.prefill_chunk >= 1, "generate: expected prefill_chunk of at least 1, got {}", options.prefill_chunk);
  MT_CHECK(!prompt.empty(), "generate: expected a prompt of at least one token, got an empty one");
  const std::int32_t context = target_.max_context();
  MT_CHECK(prompt.size() < static_cast<std::size_t>(context),
           "generate: the prompt has {} tokens, expected at most {} (the model's context of {} less one new token)",
           prompt.size(), context - 1, context);
}

GenerateResult Session::generate(std::span<const std::int32_t> prompt, const GenerateOptions& options,
                                 const Callback& callback) {
  check_request(prompt, options);
  GenerateResult result;
  GenerationStats& stats = result.stats;
  stats.prompt_tokens = size_of(prompt);
  history_.assign(prompt.begin(), prompt.end());
  Delivery delivery(tokenizer_, options, target_.max_context(), history_, callback, result);
  const auto likely = static_cast<std::size_t>(std::min(delivery.room(), kMostReserved));
  history_.reserve(prompt.size() + likely);
  result.ids.reserve(likely);
  if (drafter_ != nullptr) drafter_->reset();

  PhiloxChooser philox(options.sampling.seed);
  Chooser& chooser = options.chooser != nullptr ? *options.chooser : philox;
  if (prefill(prompt, options, stats)) {
    draft_.clear();
    chooser.begin_round(stats.prompt_tokens);
    verify(static_cast<std::int32_t>(batch_.rows.size()) - 1, options.sampling, chooser);
    delivery.deliver(verdict_.next_token, TokenOrigin::kPrefill);
    stats.generations = 1;
  }
  const double prefill_callback_s = delivery.callback_s();
  const Stopwatch watch;
  while (!delivery.finished() && !stop_requested(options)) {
    chooser.begin_round(size_of(history_));
    round(delivery, options, chooser, stats);
  }
  if (!delivery.finished()) delivery.abort();
  stats.decode_s = watch.seconds() - (delivery.callback_s() - prefill_callback_s);
  stats.tokens = size_of(result.ids);
  return result;
}

// Computes what the cache lacks of the prompt; only the last row's output is wanted. False: stopped before the end.
bool Session::prefill(std::span<const std::int32_t> prompt, const GenerateOptions& options, GenerationStats& stats) {
  const Stopwatch watch;
  const std::span<const std::int32_t> cached = cache_.tokens().first(static_cast<std::size_t>(cache_.length()));
  // The last prompt token is computed in any case: its row yields the first new token.
  const auto shared = std::mismatch(prompt.begin(), prompt.end() - 1, cached.begin(), cached.end()).first;
  stats.reused_tokens = shared - prompt.begin();
  cache_.truncate(static_cast<std::int32_t>(stats.reused_tokens));

  auto rest = prompt.subspan(static_cast<std::size_t>(stats.reused_tokens));
  while (!rest.empty() && !stop_requested(options)) {
    const auto chunk = rest.first(std::min(rest.size(), static_cast<std::size_t>(options.prefill_chunk)));
    rest = rest.subspan(chunk.size());
    batch_.clear();
    batch_.caches.assign(1, &cache_);
    static_cast<void>(batch_.add_chain(0, chunk));
    outputs_.want.assign(chunk.size(), models::Want::kNone);
    if (rest.empty()) outputs_.want.back() = verifier_->want();
    target_.forward(batch_, outputs_);
    cache_.keep_chain();
  }
  stats.prefill_s = watch.seconds();
  return rest.empty();
}

// Fills draft_ with at most `budget` nodes.
void Session::propose(std::int32_t budget, const GenerateOptions& options, Chooser& chooser) {
  draft_.clear();
  if (drafter_ == nullptr || budget <= 0) return;
  // The most probable token is what sampling at temperature 0 gives, with less work.
  const DraftSampling how = options.sampling.temperature == 0.0 ? DraftSampling::kArgmax : verifier_->draft_sampling();
  drafter_->propose({.history = history_,
                     .budget = budget,
                     .how = how,
                     .sampling = options.sampling,
                     .chooser = &chooser,
                     .stop_requested = options.stop_requested},
                    draft_);
  MT_CHECK(draft_.size() <= budget, "drafter {}: expected at most {} nodes, got {}", drafter_->name(), budget,
           draft_.size());
  draft_.validate();
}

// One target pass over the last token and the draft behind it: row 0 and row i + 1 for node i.
void Session::forward_draft(const GenerateOptions& options, GenerationStats& stats) {
  batch_.clear();
  batch_.caches.assign(1, &cache_);
  static_cast<void>(batch_.add(0, history_.back(), models::KVCache::kRoot));
  for (std::size_t node = 0; node < draft_.tokens.size(); ++node) {
    static_cast<void>(batch_.add(0, draft_.tokens[node], draft_.parent[node] + 1));
  }
  outputs_.want.assign(batch_.rows.size(), verifier_->want());
  const Stopwatch watch;
  target_.forward(batch_, outputs_);
  if (options.pass_cost != nullptr) {
    options.pass_cost->observe(static_cast<std::int64_t>(batch_.rows.size()), watch.seconds() * 1e3);
  }
  ++stats.target_passes;
  stats.proposed += draft_.size();
  stats.drafted_depth += draft_.depth();
  stats.rows += static_cast<std::int64_t>(batch_.rows.size());
}

// Decides about draft_; its root is row `first_row` of the outputs.
void Session::verify(std::int32_t first_row, const SamplingOptions& sampling, Chooser& chooser) {
  verifier_->verify(draft_, TargetRows(outputs_, first_row, sampling, row_), chooser, verdict_);
}

void Session::round(Delivery& delivery, const GenerateOptions& options, Chooser& chooser, GenerationStats& stats) {
  Stopwatch watch;
  // A pass yields one token more than it accepts, so this keeps both the token limit and the context exactly.
  propose(std::min(options.gamma, delivery.room() - 1), options, chooser);
  stats.draft_s += watch.restart();
  forward_draft(options, stats);
  verify(/*first_row=*/0, options.sampling, chooser);
  stats.verify_s += watch.restart();

  kept_rows_.assign(1, 0);
  for (const std::int32_t node : verdict_.path) {
    if (delivery.finished()) break;  // what stands behind an end token is neither delivered nor kept
    delivery.deliver(draft_.tokens[static_cast<std::size_t>(node)], TokenOrigin::kAccepted);
    kept_rows_.push_back(node + 1);
    ++stats.accepted;
  }
  cache_.keep(kept_rows_);
  if (delivery.finished()) return;

  const std::int32_t last = verdict_.path.empty() ? Draft::kRoot : verdict_.path.back();
  const bool rejected = std::find(draft_.parent.begin(), draft_.parent.end(), last) != draft_.parent.end();
  delivery.deliver(verdict_.next_token, rejected ? TokenOrigin::kCorrected : TokenOrigin::kBonus);
  if (drafter_ == nullptr || delivery.finished()) return;
  watch.restart();
  drafter_->observe(history_, draft_, verdict_);
  stats.draft_s += watch.seconds();
}

}  // namespace minitorch::spec
