// GenerationStats: what a generation counted and how long its parts took.
#pragma once

#include <cstdint>
#include <optional>

namespace minitorch::spec {

// Definitions. Prefill yields the first token and is counted apart. A verify pass yields its accepted draft tokens and
// one token of the target's own (bonus or correction). `accepted` counts draft tokens that were delivered: not the
// target's own token, not what stood behind an end token or the limit. The end token itself counts in `tokens`, and in
// `accepted` when it was drafted.
struct GenerationStats {
  std::int64_t generations = 0;  // that yielded a token: 1, or their number in a sum
  std::int64_t prompt_tokens = 0;
  std::int64_t reused_tokens = 0;  // of the prompt, found in the cache and not computed again
  std::int64_t tokens = 0;         // generated, the end token included
  std::int64_t target_passes = 0;  // verify passes; prefill is not one
  std::int64_t proposed = 0;       // draft nodes verified
  std::int64_t drafted_depth = 0;  // sum over verify passes of the draft's longest path; `proposed` counts all branches
  std::int64_t accepted = 0;
  std::int64_t rows = 0;  // rows the target computed in verify passes
  double prefill_s = 0.0;
  double decode_s = 0.0;  // after prefill, all parts but the callback's: a slow terminal is no slow decoder
  double draft_s = 0.0;   // proposing and observing
  double verify_s = 0.0;  // target passes

  // Tokens that verify passes yielded: all but the first of each generation.
  [[nodiscard]] std::int64_t pass_tokens() const { return tokens - generations; }
  // accepted / proposed; nothing when nothing was proposed.
  [[nodiscard]] std::optional<double> acceptance_rate() const;
  // (tokens - 1) / target_passes; nothing without a pass.
  [[nodiscard]] std::optional<double> tokens_per_pass() const;
  // proposed / target_passes and drafted_depth / target_passes; nothing without a pass.
  [[nodiscard]] std::optional<double> nodes_per_pass() const;
  [[nodiscard]] std::optional<double> depth_per_pass() const;
  // (tokens - 1) / decode_s; nothing without a pass.
  [[nodiscard]] std::optional<double> tokens_per_s() const;

  GenerationStats& operator+=(const GenerationStats& other);
};

}  // namespace minitorch::spec
