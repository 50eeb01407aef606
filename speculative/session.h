// Session: generates text for one sequence with a target, a drafter and a verifier. Plain decoding is the session
// without a drafter and with spec::default_verifier(): the argmax, or a token drawn with the noise of its position.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/causal_lm.h"
#include "models/cost_curve.h"
#include "models/tokenizer/tokenizer.h"
#include "speculative/distribution.h"
#include "speculative/drafter.h"
#include "speculative/stats.h"
#include "speculative/verifier.h"

namespace minitorch::spec {

enum class FinishReason : std::uint8_t {
  kStop,     // an end token or a stop string
  kLength,   // the token limit
  kContext,  // the model's context is full
  kAborted,  // the callback or stop_requested asked to stop
};
[[nodiscard]] std::string_view name_of(FinishReason reason);  // "stop", "length", "context", "aborted"

// Where a delivered token came from; `--trace` colours it.
enum class TokenOrigin : std::uint8_t {
  kPrefill,    // the first token, from the pass over the prompt
  kAccepted,   // drafted, and the target agrees
  kCorrected,  // the target's own, where it rejected what was drafted for this place
  kBonus,      // the target's own, behind the end of the draft
};

// One delivered token and the text that became certain with it.
struct TokenEvent {
  std::int32_t id = 0;
  TokenOrigin origin = TokenOrigin::kBonus;
  std::string_view text;  // may be empty; never part of a stop string, never half a character
};

struct GenerateOptions {
  std::int32_t max_new_tokens = 128;      // at least 1
  std::int32_t gamma = 4;                 // most draft nodes per pass; 0: nothing is drafted
  std::int32_t prefill_chunk = 256;       // rows per prefill pass; a request to stop waits for one
  std::vector<std::int32_t> end_tokens;   // the model's: ModelConfig::eos_token_ids; none: only limits end the text
  std::vector<std::string> stop_strings;  // not part of the text
  SamplingOptions sampling;
  // Who decides by chance; null: numbers made from sampling.seed. The exactness proof gives an enumerator. Outlives the
  // call.
  Chooser* chooser = nullptr;
  // Learns the time of every pass over a draft; null: none does. Outlives the call.
  models::CostCurve* pass_cost = nullptr;
  // Looked at before every pass, prefill too; for signals and other threads.
  const std::atomic<bool>* stop_requested = nullptr;
};

struct GenerateResult {
  std::vector<std::int32_t> ids;  // new tokens only, the end token included
  // As it stands behind the prompt's text, so a blank between the two is part of it. Without the end token, other
  // special tokens and the stop string; valid UTF-8. The texts of all events make it up; only after an abort it also
  // has what was held back until then.
  std::string text;
  FinishReason finish_reason = FinishReason::kLength;
  GenerationStats stats;
};

class Session {
 public:
  // Returns false to stop after this token.
  using Callback = std::function<bool(const TokenEvent&)>;

  // `drafter` null: nothing is drafted. `tokenizer` null: no text, and stop strings are refused. All outlive the
  // session.
  Session(models::CausalLM& target, const models::Tokenizer* tokenizer, Drafter* drafter, const Verifier& verifier);

  // Generates behind `prompt` (at least one token, and room for one more in the context). The cache is reused: what it
  // shares with `prompt` from an earlier call is not computed again. Throws Error when the prompt is empty or does not
  // fit; the session stays usable after any exception.
  GenerateResult generate(std::span<const std::int32_t> prompt, const GenerateOptions& options,
                          const Callback& callback = {});

  // From now on drafts and verdicts come from these, which outlive the session. The cache stays.
  void use(Drafter* drafter, const Verifier& verifier) {
    drafter_ = drafter;
    verifier_ = &verifier;
  }

  // Forgets what the cache holds, so that the next prompt is computed from its beginning. Pages are kept.
  void reset() { cache_.truncate(0); }

  [[nodiscard]] const models::KVCache& cache() const { return cache_; }

 private:
  class Delivery;  // where tokens go, and when the text ends

  void check_request(std::span<const std::int32_t> prompt, const GenerateOptions& options) const;
  [[nodiscard]] bool prefill(std::span<const std::int32_t> prompt, const GenerateOptions& options,
                             GenerationStats& stats);
  void propose(std::int32_t budget, const GenerateOptions& options, Chooser& chooser);
  void forward_draft(const GenerateOptions& options, GenerationStats& stats);
  void verify(std::int32_t first_row, const SamplingOptions& sampling, Chooser& chooser);
  void round(Delivery& delivery, const GenerateOptions& options, Chooser& chooser, GenerationStats& stats);

  models::CausalLM& target_;
  const models::Tokenizer* tokenizer_;
  Drafter* drafter_;
  const Verifier* verifier_;
  models::KVCache cache_;
  // Kept from round to round, so that their memory is reused.
  models::Batch batch_;
  models::Outputs outputs_;
  std::vector<std::int32_t> history_;  // prompt and output
  Draft draft_;
  Verdict verdict_;
  Distribution row_;
  std::vector<std::int32_t> kept_rows_;
};

}  // namespace minitorch::spec
