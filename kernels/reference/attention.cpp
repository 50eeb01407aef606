// Reference attention: softmax over all keys of a row at once, in double.
#include <algorithm>
#include <cmath>  // std::exp
#include <limits>
#include <vector>

#include "kernels/reference/elements.h"
#include "kernels/reference/reference.h"

namespace minitorch::kernels::reference {
namespace {

std::int64_t slot_of(const AttentionRow& row, std::int64_t position) {
  return position < row.num_linear ? position : row.tail[position - row.num_linear];
}

// out = softmax(q K^T * scale) V for one query head. `scores` is working memory.
void attend(const AttentionArgs& args, const AttentionRow& row, std::int64_t kv_head, const float* q, float* out,
            std::vector<double>& scores) {
  const KvLayout& layout = args.layout;
  const KvPages& sequence = args.sequences[row.sequence];
  scores.assign(static_cast<std::size_t>(row.num_keys), 0.0);
  double max = -std::numeric_limits<double>::infinity();
  for (std::int64_t p = 0; p < row.num_keys; ++p) {
    const std::int64_t slot = slot_of(row, p);
    const std::byte* page = layer_page(sequence, slot);
    double dot = 0.0;
    for (std::int64_t d = 0; d < layout.head_dim; ++d) {
      dot += static_cast<double>(q[d]) * float_at(page, layout.dtype, k_index(layout, kv_head, d, slot));
    }
    scores[p] = dot * args.scale;
    max = std::max(max, scores[p]);
  }
  double sum = 0.0;
  std::vector<double> weighted(static_cast<std::size_t>(layout.head_dim), 0.0);
  for (std::int64_t p = 0; p < row.num_keys; ++p) {
    const std::int64_t slot = slot_of(row, p);
    const std::byte* page = layer_page(sequence, slot);
    const double weight = std::exp(scores[p] - max);
    sum += weight;
    for (std::int64_t d = 0; d < layout.head_dim; ++d) {
      weighted[d] += weight * float_at(page, layout.dtype, v_index(layout, kv_head, d, slot));
    }
  }
  for (std::int64_t d = 0; d < layout.head_dim; ++d) {
    out[d] = row.num_keys == 0 ? 0.0f : static_cast<float>(weighted[d] / sum);
  }
}

}  // namespace

void attention(const Context&, const AttentionArgs& args) {
  if (args.layout.kv_heads == 0) return;
  const std::int64_t group = args.heads / args.layout.kv_heads;
  std::vector<double> scores;
  for (std::int64_t m = 0; m < args.rows; ++m) {
    for (std::int64_t h = 0; h < args.heads; ++h) {
      const std::int64_t offset = h * args.layout.head_dim;
      attend(args, args.row[m], h / group, args.q + m * args.q_stride + offset, args.out + m * args.out_stride + offset,
             scores);
    }
  }
}

}  // namespace minitorch::kernels::reference
