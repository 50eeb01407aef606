// Ops of a decoder that one kernel computes at once. In f32 they call that kernel, and its _backward kernel for
// gradients; in f64, and when the backward pass itself is recorded, they are the composites named beside them.
#pragma once

#include <cstdint>
#include <span>

#include "minitorch/core/tensor.h"

namespace minitorch::ops {

// Over the last dimension of x.
[[nodiscard]] Tensor softmax(const Tensor& x);
[[nodiscard]] Tensor log_softmax(const Tensor& x);

// x [..., C], weight [C] -> x / sqrt(mean(x^2) + eps) * weight over the last dimension.
[[nodiscard]] Tensor rms_norm(const Tensor& x, const Tensor& weight, float eps);
// x [..., C], weight and bias [C] (bias may be undefined).
[[nodiscard]] Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, float eps);

// gate_up [..., 2F]: silu(first half) * second half -> [..., F].
[[nodiscard]] Tensor silu_mul(const Tensor& gate_up);

// Rotary positions for the first `heads` heads of each row of x [M, W], heads * D <= W; cos, sin [M, D/2]; the rest of
// the row stays. Takes x over: its memory is used for the result when nobody else holds it.
[[nodiscard]] Tensor rope(Tensor x, std::int64_t heads, const Tensor& cos, const Tensor& sin);

// How the rows of qkv [M, (H + 2K) D] are divided: H query heads, then K key heads, then K value heads.
struct AttentionHeads {
  std::int64_t heads = 0;     // H, a multiple of kv_heads
  std::int64_t kv_heads = 0;  // K
  std::int64_t head_dim = 0;  // D
};
// Causal attention within sequences that lie one behind the other: sequence s has the rows begins[s] .. begins[s+1]-1.
// scale is 1 / sqrt(D). -> [M, H D].
[[nodiscard]] Tensor causal_attention(const Tensor& qkv, std::span<const std::int32_t> begins,
                                      const AttentionHeads& heads);

// logits [M, V], targets [M] in [0, V), negative for rows that do not count -> the mean of -ln softmax(logits)[target]
// over the rows that count, a scalar. Throws Error when none counts.
[[nodiscard]] Tensor cross_entropy(const Tensor& logits, std::span<const std::int32_t> targets);
// The same against a teacher: the mean over rows of -sum_v p_v ln softmax(logits)_v, probabilities p [M, V] constant.
[[nodiscard]] Tensor soft_cross_entropy(const Tensor& logits, const Tensor& probabilities);

}  // namespace minitorch::ops
