// How matmul and causal_attention divide their work, and their scratch memory.
#pragma once

#include <cstdint>

#include "kernels/context.h"
#include "kernels/ops/causal_attention.h"
#include "kernels/ops/matmul.h"

namespace minitorch::kernels {

// The pieces of a matmul: a packed kInner x kCols of B stays in the second-level cache, and a block of rows of A,
// kInner long, in the first. It is shorter where A is packed, because then it is there twice.
struct MatmulBlocks {
  static constexpr std::int64_t kInner = 384;
  static constexpr std::int64_t kInnerPacked = 160;
  static constexpr std::int64_t kCols = 512;
};

// Floats of one thread's packed operands.
std::int64_t matmul_left_floats(const MatmulArgs& args);
std::int64_t matmul_right_floats(const MatmulArgs& args);

// The caller's scratch memory. Throws Error when it is too small, or the dtype is not one of matmul's.
float* matmul_scratch(const Context& context, const MatmulArgs& args);

// Query rows of the attention backward whose probabilities are held at once; a multiple of every table's tile.
constexpr std::int64_t kCausalRows = 96;

// Sizes of one thread's working memory for the longest sequence, in floats.
struct CausalSizes {
  std::int64_t keys_by_dim;   // [ceil(T / 16)][D][16]: keys, or values, side by side for every element of the head
  std::int64_t dims_by_key;   // [ceil(D / 16)][T][16]: their elements side by side for every key
  std::int64_t score_stride;  // between rows of scores: odd in cache lines, so that a column meets all cache sets
  std::int64_t query_rows;    // [ceil(D / 16)][kCausalRows][16]
  std::int64_t per_thread;    // of the backward, the larger one

  CausalSizes(std::int64_t length, std::int64_t head_dim);
};
std::int64_t longest_sequence(const CausalAttentionArgs& args);

float* causal_attention_scratch(const Context& context, const CausalAttentionArgs& args);

}  // namespace minitorch::kernels
