// How far the next-token probabilities of one model are from those of another, over a text.
#pragma once

#include <cstdint>
#include <span>

#include "minitorch/base/thread_pool.h"
#include "models/causal_lm.h"

namespace minitorch::quantize {

struct Divergence {
  std::int64_t tokens = 0;   // positions compared
  std::int64_t windows = 0;  // each begins with an empty cache
  std::int64_t window_tokens = 0;
  double mean_kl = 0.0;  // nats per token, KL(reference || model)
  double largest_kl = 0.0;
  std::int64_t same_top = 0;  // positions where both find the same token likeliest

  [[nodiscard]] double top_agreement() const { return static_cast<double>(same_top) / static_cast<double>(tokens); }
};

// KL(p || q) of the distributions that two rows of logits stand for, in f64; -inf is a token that cannot come.
[[nodiscard]] double kl_divergence(std::span<const float> p_logits, std::span<const float> q_logits);

// Over the text's ids in windows of at most 512, or of the shorter context; the logits of 32 positions are held at a
// time. The sums do not depend on the number of threads.
[[nodiscard]] Divergence compare_models(models::CausalLM& reference, models::CausalLM& model,
                                        std::span<const std::int32_t> ids, ThreadPool& threads);

}  // namespace minitorch::quantize
