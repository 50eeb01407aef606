// causal_attention over whole sequences.
#include <array>
#include <cmath>  // std::sqrt
#include <cstddef>
#include <limits>
#include <vector>

#include "kernels/ops/causal_attention.h"
#include "minitorch/autograd/record.h"
#include "minitorch/ops/fused.h"
#include "minitorch/ops/index.h"
#include "minitorch/ops/matmul.h"
#include "minitorch/ops/op_support.h"
#include "minitorch/ops/operators.h"
#include "minitorch/ops/pointwise.h"
#include "minitorch/ops/reduce.h"

namespace minitorch::ops {
namespace {

using autograd::InputGradients;
using autograd::record;

double scale_of(const AttentionHeads& heads) { return 1.0 / std::sqrt(static_cast<double>(heads.head_dim)); }

void check_attention(const Tensor& qkv, std::span<const std::int32_t> begins, const AttentionHeads& heads) {
  check_float("causal_attention", "qkv", qkv);
  check_num_dims("causal_attention", "qkv", qkv, 2);
  MT_CHECK_AS(
      ShapeError, heads.kv_heads > 0 && heads.head_dim > 0 && heads.heads > 0 && heads.heads % heads.kv_heads == 0,
      "causal_attention: expected heads in groups of equal size, got {} heads, {} kv_heads and a head_dim of {}",
      heads.heads, heads.kv_heads, heads.head_dim);
  MT_CHECK_AS(ShapeError, qkv.size(1) == (heads.heads + 2 * heads.kv_heads) * heads.head_dim,
              "causal_attention: expected rows of {} elements, got {}",
              (heads.heads + 2 * heads.kv_heads) * heads.head_dim, to_string(qkv.shape()));
  MT_CHECK(!begins.empty() && begins.front() == 0 && begins.back() == qkv.size(0),
           "causal_attention: expected begins from 0 to {}, got {} of them", qkv.size(0), begins.size());
  for (std::size_t i = 1; i < begins.size(); ++i) {
    MT_CHECK(begins[i] >= begins[i - 1], "causal_attention: expected ascending begins, got {} behind {}", begins[i],
             begins[i - 1]);
  }
}

kernels::CausalAttentionArgs kernel_args(const Tensor& rows, const Tensor& begins, const AttentionHeads& heads) {
  const float* const q = rows.data<float>();
  const float* const k = q + heads.heads * heads.head_dim;
  return {.begins = begins.data<std::int32_t>(),
          .sequences = begins.numel() - 1,
          .heads = heads.heads,
          .kv_heads = heads.kv_heads,
          .head_dim = heads.head_dim,
          .scale = static_cast<float>(scale_of(heads)),
          .q = q,
          .q_stride = rows.strides()[0],
          .k = k,
          .k_stride = rows.strides()[0],
          .v = k + heads.kv_heads * heads.head_dim,
          .v_stride = rows.strides()[0]};
}

Tensor attention_kernel(const Tensor& qkv, const Tensor& begins, const AttentionHeads& heads) {
  const Tensor rows = as_rows(qkv);
  Tensor out = Tensor::empty({rows.size(0), heads.heads * heads.head_dim});
  kernels::CausalAttentionArgs args = kernel_args(rows, begins, heads);
  args.out = out.data<float>();
  args.out_stride = out.size(1);
  table().causal_attention(context(kernels::causal_attention_scratch_bytes(args, num_threads())), args);
  return out;
}

Tensor attention_backward_kernel(const Tensor& dout, const Tensor& qkv, const Tensor& begins,
                                 const AttentionHeads& heads) {
  const Tensor rows = as_rows(qkv);
  const Tensor dout_rows = as_rows(dout);
  Tensor gradient = Tensor::empty(qkv.shape());
  float* const dq = gradient.data<float>();
  float* const dk = dq + heads.heads * heads.head_dim;
  const kernels::CausalAttentionBackwardArgs args{.forward = kernel_args(rows, begins, heads),
                                                  .dout = dout_rows.data<float>(),
                                                  .dout_stride = dout_rows.strides()[0],
                                                  .dq = dq,
                                                  .dq_stride = qkv.size(1),
                                                  .dk = dk,
                                                  .dk_stride = qkv.size(1),
                                                  .dv = dk + heads.kv_heads * heads.head_dim,
                                                  .dv_stride = qkv.size(1)};
  table().causal_attention_backward(context(kernels::causal_attention_scratch_bytes(args.forward, num_threads())),
                                    args);
  return gradient;
}

// The plain form, sequence by sequence. Letters: T rows, K key heads, G query heads per key head, D head width.

// Rows [T, count * D] as [K, G, T, D], where count = K G.
Tensor split_heads(const Tensor& rows, const AttentionHeads& heads, std::int64_t groups) {
  return rows.reshape({rows.size(0), heads.kv_heads, groups, heads.head_dim}).permute({1, 2, 0, 3});
}
// And back.
Tensor join_heads(const Tensor& x) {
  return x.permute({2, 0, 1, 3}).reshape({x.size(2), x.size(0) * x.size(1) * x.size(3)});
}

struct Sequence {
  Tensor q, k, v;        // [K, G, T, D], [K, 1, T, D] twice
  Tensor probabilities;  // [K, G, T, T]
};

Sequence attend(const Tensor& rows, const AttentionHeads& heads) {
  const std::int64_t num_rows = rows.size(0);
  const std::int64_t q_width = heads.heads * heads.head_dim;
  const std::int64_t kv_width = heads.kv_heads * heads.head_dim;
  Sequence s{
      .q = split_heads(rows.slice(1, {.stop = q_width}), heads, heads.heads / heads.kv_heads),
      .k = split_heads(rows.slice(1, {.start = q_width, .stop = q_width + kv_width}), heads, 1),
      .v = split_heads(rows.slice(1, {.start = q_width + kv_width}), heads, 1),
      .probabilities = {},
  };
  const Tensor places = Tensor::arange(num_rows, rows.dtype());
  const Tensor hidden = gt(places.unsqueeze(0), places.unsqueeze(1));  // the key comes behind the query
  const Tensor scores = matmul(s.q, s.k.transpose(-1, -2)) * scale_of(heads);
  s.probabilities = softmax(masked_fill(scores, hidden, -std::numeric_limits<double>::infinity()));
  return s;
}

Tensor attention_composite(const Tensor& rows, const AttentionHeads& heads) {
  const Sequence s = attend(rows, heads);
  return join_heads(matmul(s.probabilities, s.v));
}

// With P the probabilities and dP = dO V^T: dV = P^T dO, dS = P (dP - sum(dP P)), dQ = dS K scale, dK = dS^T Q scale.
Tensor attention_gradient(const Tensor& dout, const Tensor& rows, const AttentionHeads& heads) {
  const Sequence s = attend(rows, heads);
  const Tensor& p = s.probabilities;
  const Tensor dout_heads = split_heads(dout, heads, heads.heads / heads.kv_heads);
  const Tensor dp = matmul(dout_heads, s.v.transpose(-1, -2));
  const Tensor dscores = p * (dp - sum(dp * p, {-1}, /*keepdim=*/true)) * scale_of(heads);
  const Tensor dk = sum(matmul(dscores.transpose(-1, -2), s.q), {1}, /*keepdim=*/true);
  const Tensor dv = sum(matmul(p.transpose(-1, -2), dout_heads), {1}, /*keepdim=*/true);
  const std::array parts{join_heads(matmul(dscores, s.k)), join_heads(dk), join_heads(dv)};
  return cat(parts, 1);
}

// function(sequence's rows of each matrix), joined. Empty sequences are passed over.
template <typename Function>
Tensor per_sequence(std::span<const std::int32_t> begins, const Function& function) {
  std::vector<Tensor> parts;
  for (std::size_t i = 1; i < begins.size(); ++i) {
    if (begins[i] > begins[i - 1]) parts.push_back(function(Slice{.start = begins[i - 1], .stop = begins[i]}));
  }
  return cat(parts, 0);
}

std::span<const std::int32_t> values_of(const Tensor& begins) {
  return {begins.data<std::int32_t>(), static_cast<std::size_t>(begins.numel())};
}

}  // namespace

Tensor causal_attention(const Tensor& qkv, std::span<const std::int32_t> begins, const AttentionHeads& heads) {
  check_attention(qkv, begins, heads);
  if (qkv.size(0) == 0) return qkv.slice(1, {.stop = heads.heads * heads.head_dim}).clone();
  if (qkv.dtype() == DType::kF64) {
    return per_sequence(begins, [&](const Slice& rows) { return attention_composite(qkv.slice(0, rows), heads); });
  }
  const Tensor saved_begins = Tensor::from(begins, {static_cast<std::int64_t>(begins.size())});
  Tensor out = attention_kernel(qkv, saved_begins, heads);
  record(out, "causal_attention", {&qkv}, [&] {
    return [qkv, saved_begins, heads](const Tensor& dout, InputGradients& inputs) {
      if (!grad_enabled()) {
        inputs.set(0, attention_backward_kernel(dout, qkv, saved_begins, heads));
        return;
      }
      inputs.set(0, per_sequence(values_of(saved_begins), [&](const Slice& rows) {
                   return attention_gradient(dout.slice(0, rows), qkv.slice(0, rows), heads);
                 }));
    };
  });
  return out;
}

}  // namespace minitorch::ops
