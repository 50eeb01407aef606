// Drafter: proposes what the target may say next. Anything may be proposed; only speed depends on it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "speculative/chooser.h"
#include "speculative/distribution.h"
#include "speculative/draft.h"

namespace minitorch::models {
class CausalLM;
}

namespace minitorch::spec {

// How a drafter that has probabilities turns them into tokens; the verifier says which fits its rule. A drafter without
// probabilities proposes what it has: to every verifier that is a token that could not have been another.
enum class DraftSampling : std::uint8_t {
  kArgmax,       // the most probable token
  kIndependent,  // Chooser::draw with Purpose::kDraft, and the draft holds what was drawn from
  kCoupled,      // Chooser::sample at the token's position: the noise the target will use there
};

struct DraftRequest {
  std::span<const std::int32_t> history;  // prompt and output so far, never empty
  std::int32_t budget = 0;                // most nodes
  DraftSampling how = DraftSampling::kArgmax;
  SamplingOptions sampling = {};  // the target's: what it is likely to say
  Chooser* chooser = nullptr;     // not null unless `how` is kArgmax
  // Where work takes long, such as reading a prompt, it ends when this is set, and nothing is proposed. May be null.
  const std::atomic<bool>* stop_requested = nullptr;
};

class Drafter {
 public:
  virtual ~Drafter() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  // Begins a new request; forgets everything about the former one. Within a request the history only grows.
  virtual void reset() = 0;
  // Proposes at most `budget` nodes behind the history into the empty `draft`. budget 0 or having no idea leaves it
  // empty. How many nodes there are may depend on all but the tokens drawn for them: dropping a drawn token because of
  // what it is would bias the text.
  virtual void propose(const DraftRequest& request, Draft& draft) = 0;
  // Tells what became of the last draft; `history` now ends with the accepted tokens and the target's own.
  virtual void observe(std::span<const std::int32_t> history, const Draft& draft, const Verdict& verdict) = 0;
};

struct DrafterOptions {
  std::int32_t max_ngram = 3;  // ngram: longest suffix looked up
  std::int32_t min_ngram = 1;
  // ngram: 1/branch_share of the nodes go to a second known continuation; 0: chains only.
  std::int32_t branch_share = 4;
  // model: who proposes, and for whom; both are needed. The draft model outlives the drafter, and from now on generates
  // no id that the target cannot generate (CausalLM::restrict_ids). They may be the same.
  models::CausalLM* draft_model = nullptr;
  const models::CausalLM* target_model = nullptr;
};

struct DrafterInfo {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<Drafter> (*make)(const DrafterOptions&);  // null result: plain decoding
};

// All drafters a program can ask for by name; the array in drafters/registry.cpp.
[[nodiscard]] std::span<const DrafterInfo> drafters();
// Throws Error that lists the known names.
[[nodiscard]] const DrafterInfo& find_drafter(std::string_view name);

}  // namespace minitorch::spec
