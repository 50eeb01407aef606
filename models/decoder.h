// Decoder: the one transformer decoder behind all architectures (pre-norm, grouped attention, rotary positions,
// SwiGLU).
#pragma once

#include <cstdint>
#include <vector>

#include "minitorch/core/execution_scope.h"
#include "models/batch_rows.h"
#include "models/causal_lm.h"
#include "models/config.h"
#include "models/head.h"
#include "models/rotary.h"
#include "models/weights.h"

namespace minitorch::models {

class Decoder final : public CausalLM {
 public:
  // Rows beyond these take further rounds through all layers, so that a long prompt needs no more working memory.
  static constexpr std::int64_t kRowsPerRound = 256;

  // `runtime` outlives the decoder and its caches. `cache_dtype`: f32 or bf16.
  Decoder(ModelConfig config, DecoderWeights weights, const Runtime& runtime, DType cache_dtype);

  [[nodiscard]] std::int32_t vocab_size() const override { return static_cast<std::int32_t>(config_.vocab_size); }
  [[nodiscard]] std::int32_t max_context() const override { return limits_.max_context; }
  [[nodiscard]] KVCache make_cache(std::int32_t capacity) const override;
  void forward(const Batch& batch, Outputs& outputs) override;

  // From now on passes go through `layers` only, in place of all: for measurements. Outputs::hidden_layer may be one of
  // them. Throws Error when they are not layers of this model.
  void use_layers(RowRange layers);
  void use_all_layers() { layers_ = {0, config_.num_layers}; }

  [[nodiscard]] const ModelConfig& config() const { return config_; }
  [[nodiscard]] const DecoderWeights& weights() const { return weights_; }
  // Of the pool that working memory comes from; a pass of as many rows as an earlier one takes nothing new from the
  // system.
  [[nodiscard]] MemoryPool::Stats memory_stats() const { return memory_.stats(); }

 private:
  // Rows of the batch that pass through the layers together.
  struct Round {
    RowRange rows;
    RowRange last_rows;  // those needed behind the last layer's keys and values
    RotaryAngles angles;
  };

  void compute(const Batch& batch, Outputs& outputs);
  Tensor run_layers(const Batch& batch, const Round& round, Outputs& outputs);
  Tensor attend(std::int64_t layer, const Tensor& qkv, const Batch& batch, const Round& round, RowRange needed);
  void store_keys_values(const Tensor& qkv, RowRange rows) const;
  [[nodiscard]] Tensor attend_to_cache(const Tensor& qkv, RowRange rows) const;

  ModelConfig config_;
  DecoderWeights weights_;
  Runtime runtime_;
  BatchLimits limits_;
  std::vector<float> inverse_frequencies_;
  RowRange layers_;    // that passes go through
  MemoryPool memory_;  // stands before all that holds memory of it
  BatchRows rows_;
  HeadRows head_rows_;
  std::vector<kernels::KvPages> pages_;  // of the batch's sequences, for the layer at work
};

}  // namespace minitorch::models
