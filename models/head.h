// HeadRows: the rows of a batch whose outputs are wanted, through the final norm and the head.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "minitorch/core/storage.h"
#include "minitorch/core/tensor.h"
#include "models/causal_lm.h"
#include "models/config.h"
#include "models/weights.h"

namespace minitorch::models {

// Rows [begin, end).
struct RowRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  [[nodiscard]] std::int64_t size() const { return end - begin; }
};

// Reused from pass to pass, so that its memory is.
class HeadRows {
 public:
  // Rows whose logits are computed at a time unless they are wanted themselves: bounds the memory of long evaluations.
  static constexpr std::int64_t kRowsAtOnce = 64;

  // Checks what `outputs` asks for and sizes its results. Throws Error. All results come from the memory pool of the
  // calling scope, so that they may outlive the model.
  void plan(const Batch& batch, const ModelConfig& config, const ValidIds& valid_ids, Outputs& outputs);

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(order_.size()); }
  // The smallest part of rows [begin, end) of the batch that holds all wanted ones.
  [[nodiscard]] RowRange wanted_within(RowRange rows) const;
  // Copies the wanted ones among `x`, rows [begin, begin + M) of the batch, to their places in `wanted` [count(), C].
  void collect(const Tensor& x, std::int64_t begin, const Tensor& wanted) const;
  // Fills `outputs` from the residual stream of the wanted rows. Throws Error when logits hold a NaN.
  void compute(const Tensor& wanted, const Batch& batch, const DecoderWeights& weights, const ModelConfig& config,
               const ValidIds& valid_ids, Outputs& outputs);

 private:
  void pick_argmax(const Tensor& logits, RowRange places, const Batch& batch, Outputs& outputs);
  void pick_top_k(const Tensor& logits, RowRange places, Outputs& outputs);

  MemoryPool* result_memory_ = nullptr;
  std::int64_t valid_cols_ = 0;  // ids beyond are masked
  // Batch rows by place: those that want logits first, then top-k, then argmax.
  std::vector<std::int32_t> order_;
  RowRange logits_places_;
  RowRange top_k_places_;
  std::vector<std::int32_t> place_;  // by batch row; -1 where nothing is wanted
  std::vector<std::int32_t> argmax_;
  std::vector<float> top_values_;
  std::vector<std::int32_t> top_indices_;
};

}  // namespace minitorch::models
