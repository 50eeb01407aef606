// attention: softmax(q K^T * scale) V over the paged cache, with grouped heads and draft trees.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/ops/kv_cache.h"

namespace minitorch::kernels {

// Which keys one query row sees, in logical order. A row of a plain sequence sees slots 0 .. num_keys-1. In a draft
// tree its ancestors (and itself) stand for the last logical positions although their slots are scattered: logical
// position p has slot p for p < num_linear and slot tail[p - num_linear] from there on.
struct AttentionRow {
  std::int32_t sequence = 0;           // index into AttentionArgs::sequences
  std::int32_t num_keys = 0;           // position of the row + 1
  std::int32_t num_linear = 0;         // <= num_keys
  const std::int32_t* tail = nullptr;  // [num_keys - num_linear]
};

// q, out [M, H, D] f32; query head h reads K/V head h / (H / kv_heads). out does not overlap q.
// Numerics (exactness rule E2): keys are visited in blocks of 64 logical positions. A block gives a partial (maximum m,
// sum of exp(s - m), weighted V) from the query and the block alone: scores are one f32 accumulator over d in order,
// times scale; the sum uses 16 partial sums (position mod 16) added pairwise; V is accumulated position by position.
// Partials are merged in ascending order. Slot layout, other rows and threads do not enter. A row without keys gives
// zeros. Tolerance against `reference`: 1e-5 * max |V| (f32 cache), the same on the rounded values (bf16 cache).
struct AttentionArgs {
  KvLayout layout;
  const KvPages* sequences = nullptr;
  const AttentionRow* row = nullptr;  // [M]
  const float* q = nullptr;
  std::int64_t q_stride = 0;
  float* out = nullptr;
  std::int64_t out_stride = 0;
  std::int64_t rows = 0;   // M
  std::int64_t heads = 0;  // H, a multiple of layout.kv_heads
  float scale = 1.0f;
};

// Scratch an implementation may use: scores and accumulators of one group of query heads per thread.
constexpr std::size_t attention_scratch_bytes(const AttentionArgs& args, int num_threads) {
  const std::int64_t group = args.heads / std::max<std::int64_t>(args.layout.kv_heads, 1);
  const std::int64_t floats = group * (4 * kPageSlots + 2 * ((args.layout.head_dim + 15) / 16 * 16) + 32) + 128;
  return static_cast<std::size_t>(num_threads) * static_cast<std::size_t>(floats) * sizeof(float);
}

}  // namespace minitorch::kernels
