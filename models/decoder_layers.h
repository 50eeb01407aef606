// One layer of the decoder, written once: over packed weights and a paged cache when generating, over tensors that
// require gradients and whole sequences when training.
#pragma once

#include <utility>

#include "minitorch/ops/fused.h"
#include "minitorch/ops/inference.h"
#include "minitorch/ops/matmul.h"
#include "models/config.h"
#include "models/head.h"
#include "models/rotary.h"
#include "models/weights.h"

namespace minitorch::models {

[[nodiscard]] inline Tensor rows_of(const Tensor& x, RowRange rows) {
  return rows.size() == x.size(0) ? x : x.slice(0, {.start = rows.begin, .stop = rows.end});
}

// x [M, C] -> h + down(silu(gate(norm(h))) * up(norm(h))) with h = x + output(attention(norm(x))), for the rows
// `needed` of x. `attend` maps qkv [M, (H + 2K) D], queries and keys rotated, to [needed, H D]; where it returns an
// undefined tensor, no row goes on, and neither does this function.
template <typename Matrix, typename Attend>
[[nodiscard]] Tensor decoder_layer(const ModelConfig& config, const LayerWeightsOf<Matrix>& weights, const Tensor& x,
                                   const RotaryAngles& angles, RowRange needed, const Attend& attend) {
  const float eps = config.rms_norm_eps;
  Tensor qkv = ops::linear(ops::rms_norm(x, weights.attention_norm, eps), weights.qkv, weights.qkv_bias);
  qkv = ops::rope(std::move(qkv), config.num_heads + config.num_kv_heads, angles.cos, angles.sin);
  const Tensor context = attend(qkv);
  if (!context.defined()) return {};
  const Tensor h = ops::linear(context, weights.output, weights.output_bias, rows_of(x, needed));
  const Tensor gate_up = ops::linear(ops::rms_norm(h, weights.mlp_norm, eps), weights.gate_up, weights.gate_up_bias);
  return ops::linear(ops::silu_mul(gate_up), weights.down, weights.down_bias, h);
}

}  // namespace minitorch::models
