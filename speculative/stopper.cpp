// Stopper: end tokens and limits.
#include "speculative/stopper.h"

#include <algorithm>

#include "speculative/session.h"  // FinishReason

namespace minitorch::spec {

Stopper::Stopper(std::span<const std::int32_t> end_tokens, std::int32_t max_new_tokens, std::int32_t prompt_tokens,
                 std::int32_t context)
    : end_tokens_(end_tokens.begin(), end_tokens.end()),
      limit_(std::min(max_new_tokens, context - prompt_tokens)),
      limited_by_context_(context - prompt_tokens < max_new_tokens) {
  std::sort(end_tokens_.begin(), end_tokens_.end());
}

bool Stopper::is_end_token(std::int32_t id) const {
  return std::binary_search(end_tokens_.begin(), end_tokens_.end(), id);
}

std::optional<FinishReason> Stopper::after(std::int32_t id, std::int32_t num_new) const {
  if (is_end_token(id)) return FinishReason::kStop;
  if (room(num_new) > 0) return std::nullopt;
  return limited_by_context_ ? FinishReason::kContext : FinishReason::kLength;
}

}  // namespace minitorch::spec
