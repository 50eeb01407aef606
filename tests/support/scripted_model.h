// ScriptedModel: a CausalLM without weights whose logits are a given function of the prefix.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "models/causal_lm.h"

namespace minitorch::test {

class ScriptedModel : public models::CausalLM {
 public:
  using Prefix = std::span<const std::int32_t>;
  // Fills the logits [V] behind a prefix (at least one token).
  using LogitsFunction = std::function<void(Prefix prefix, std::span<float> logits)>;

  ScriptedModel(std::int32_t vocab_size, std::int32_t max_context, LogitsFunction logits);

  // The model whose argmax behind a prefix is next(prefix).
  [[nodiscard]] static ScriptedModel from_next_token(std::int32_t vocab_size, std::int32_t max_context,
                                                     std::function<std::int32_t(Prefix)> next);
  // The model that answers a prompt of `prompt_size` tokens with `stream`, whatever the tokens are, and behind its end
  // with `filler`.
  [[nodiscard]] static ScriptedModel from_stream(std::int32_t vocab_size, std::int32_t max_context,
                                                 std::int32_t prompt_size, std::vector<std::int32_t> stream,
                                                 std::int32_t filler = 0);
  // Random logits from a table over the last two tokens (order-2 Markov); the first token counts as preceded by itself.
  // A few rows hold ties for the largest logit.
  [[nodiscard]] static ScriptedModel markov2(std::int32_t vocab_size, std::int32_t max_context, std::uint64_t seed);

  // From now on logit 0 behind exactly this prefix is a NaN.
  void set_nan_behind(std::vector<std::int32_t> prefix) { nan_prefix_ = std::move(prefix); }

  [[nodiscard]] std::int32_t vocab_size() const override { return vocab_size_; }
  [[nodiscard]] std::int32_t max_context() const override { return max_context_; }
  [[nodiscard]] models::KVCache make_cache(std::int32_t capacity) const override;
  void forward(const models::Batch& batch, models::Outputs& outputs) override;

  // What forward computed so far, for tests that count work.
  [[nodiscard]] std::int64_t num_passes() const { return num_passes_; }
  [[nodiscard]] std::int64_t num_rows() const { return num_rows_; }

 private:
  void append_rows(const models::Batch& batch, std::vector<std::int32_t>& pending_index);
  void compute(const models::Batch& batch, std::span<const std::int32_t> pending_index, models::Outputs& outputs);
  void logits_behind(Prefix prefix, std::span<float> logits) const;

  std::int32_t vocab_size_;
  std::int32_t max_context_;
  LogitsFunction logits_;
  std::vector<std::int32_t> nan_prefix_;
  std::int64_t num_passes_ = 0;
  std::int64_t num_rows_ = 0;
};

}  // namespace minitorch::test
