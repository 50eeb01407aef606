// causal_attention: softmax(q k^T * scale) v over whole sequences and its backward, for training. (Inference attends to
// a paged cache: attention.)
#pragma once

#include <cstddef>
#include <cstdint>

namespace minitorch::kernels {

// Several sequences one behind the other: row r belongs to sequence s with begins[s] <= r < begins[s + 1], and sees the
// rows begins[s] .. r. q [M, H, D], k and v [M, K, D] and out [M, H, D] are f32 with the given strides between rows
// (they may be parts of one [M, (H + 2K) D] matrix); query head h reads K/V head h / (H / K). Numerics: f32; a sequence
// depends on itself alone, in an order fixed by its length, never by threads. Tolerance against `reference` (double):
// 1e-5 * max |v| for T <= 1024, D <= 128 and |scores| <= 30.
struct CausalAttentionArgs {
  const std::int32_t* begins = nullptr;  // [S + 1], ascending, begins[0] = 0, begins[S] = M
  std::int64_t sequences = 0;            // S
  std::int64_t heads = 0;                // H, a multiple of kv_heads
  std::int64_t kv_heads = 0;             // K
  std::int64_t head_dim = 0;             // D
  float scale = 1.0f;
  const float* q = nullptr;
  std::int64_t q_stride = 0;
  const float* k = nullptr;
  std::int64_t k_stride = 0;
  const float* v = nullptr;
  std::int64_t v_stride = 0;
  float* out = nullptr;
  std::int64_t out_stride = 0;
};

// Gradients of q, k and v from that of out; every element of dq, dk, dv is written. The probabilities are computed
// again. `forward` is as above, its `out` is not used.
// Tolerance against `reference`: 1e-4 * the largest |value| of each of dq, dk, dv.
struct CausalAttentionBackwardArgs {
  CausalAttentionArgs forward;
  const float* dout = nullptr;
  std::int64_t dout_stride = 0;
  float* dq = nullptr;
  std::int64_t dq_stride = 0;
  float* dk = nullptr;
  std::int64_t dk_stride = 0;
  float* dv = nullptr;
  std::int64_t dv_stride = 0;
};

// Scratch for both; enough for every table.
[[nodiscard]] std::size_t causal_attention_scratch_bytes(const CausalAttentionArgs& args, int num_threads);

}  // namespace minitorch::kernels
