// Reference causal_attention and its backward: one query of one head at a time, in double.
#include <algorithm>
#include <cmath>  // std::exp
#include <limits>
#include <vector>

#include "kernels/reference/reference.h"

namespace minitorch::kernels::reference {
namespace {

using Doubles = std::vector<double>;

// A query head at row `row` of the sequence that begins at row `begin`; it sees the rows begin .. row.
struct Query {
  const CausalAttentionArgs& args;
  std::int64_t begin, row, head;

  std::int64_t num_keys() const { return row - begin + 1; }
  std::int64_t kv_offset() const { return head / (args.heads / args.kv_heads) * args.head_dim; }
  const float* q() const { return args.q + row * args.q_stride + head * args.head_dim; }
  const float* k(std::int64_t key) const { return args.k + (begin + key) * args.k_stride + kv_offset(); }
  const float* v(std::int64_t key) const { return args.v + (begin + key) * args.v_stride + kv_offset(); }
};

// Calls visit(query) for every row and head.
template <typename Visit>
void for_each_query(const CausalAttentionArgs& args, const Visit& visit) {
  for (std::int64_t s = 0; s < args.sequences; ++s) {
    for (std::int64_t row = args.begins[s]; row < args.begins[s + 1]; ++row) {
      for (std::int64_t head = 0; head < args.heads; ++head) visit(Query{args, args.begins[s], row, head});
    }
  }
}

double dot(const float* a, const float* b, std::int64_t size) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < size; ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

Doubles probabilities(const Query& query) {
  Doubles p(static_cast<std::size_t>(query.num_keys()));
  double max = -std::numeric_limits<double>::infinity();
  for (std::int64_t j = 0; j < query.num_keys(); ++j) {
    p[j] = dot(query.q(), query.k(j), query.args.head_dim) * query.args.scale;
    max = std::max(max, p[j]);
  }
  double sum = 0.0;
  for (double& value : p) sum += value = std::exp(value - max);
  for (double& value : p) value /= sum;
  return p;
}

// The gradients while they are summed: dk and dv [M, K, D].
struct Sums {
  Doubles dk, dv;
};

// With p the probabilities: dv_j += p_j dout, dp_j = dout . v_j, and for the scores ds_j = p_j (dp_j - sum_i p_i dp_i).
void add_gradients(const CausalAttentionBackwardArgs& args, const Query& query, Sums& sums) {
  const std::int64_t dim = query.args.head_dim;
  const std::int64_t width = query.args.kv_heads * dim;
  const float* dout = args.dout + query.row * args.dout_stride + query.head * dim;
  const Doubles p = probabilities(query);
  Doubles dp(p.size());
  double mean = 0.0;
  for (std::int64_t j = 0; j < query.num_keys(); ++j) {
    dp[j] = dot(dout, query.v(j), dim);
    mean += p[j] * dp[j];
  }
  Doubles dq(static_cast<std::size_t>(dim), 0.0);
  for (std::int64_t j = 0; j < query.num_keys(); ++j) {
    const double ds = p[j] * (dp[j] - mean) * query.args.scale;
    const std::int64_t place = (query.begin + j) * width + query.kv_offset();
    for (std::int64_t d = 0; d < dim; ++d) {
      dq[d] += ds * query.k(j)[d];
      sums.dk[place + d] += ds * query.q()[d];
      sums.dv[place + d] += p[j] * dout[d];
    }
  }
  for (std::int64_t d = 0; d < dim; ++d) {
    args.dq[query.row * args.dq_stride + query.head * dim + d] = static_cast<float>(dq[d]);
  }
}

void round_rows(const Doubles& from, std::int64_t rows, std::int64_t width, float* to, std::int64_t stride) {
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < width; ++j) to[i * stride + j] = static_cast<float>(from[i * width + j]);
  }
}

}  // namespace

void causal_attention(const Context&, const CausalAttentionArgs& args) {
  for_each_query(args, [&args](const Query& query) {
    const Doubles p = probabilities(query);
    float* out = args.out + query.row * args.out_stride + query.head * args.head_dim;
    for (std::int64_t d = 0; d < args.head_dim; ++d) {
      double sum = 0.0;
      for (std::int64_t j = 0; j < query.num_keys(); ++j) sum += p[j] * query.v(j)[d];
      out[d] = static_cast<float>(sum);
    }
  });
}

void causal_attention_backward(const Context&, const CausalAttentionBackwardArgs& args) {
  const CausalAttentionArgs& forward = args.forward;
  if (forward.sequences <= 0) return;
  const std::int64_t rows = forward.begins[forward.sequences];
  const std::int64_t width = forward.kv_heads * forward.head_dim;
  Sums sums{Doubles(static_cast<std::size_t>(rows * width), 0.0), Doubles(static_cast<std::size_t>(rows * width), 0.0)};
  for_each_query(forward, [&](const Query& query) { add_gradients(args, query, sums); });
  round_rows(sums.dk, rows, width, args.dk, args.dk_stride);
  round_rows(sums.dv, rows, width, args.dv, args.dv_stride);
}

}  // namespace minitorch::kernels::reference
