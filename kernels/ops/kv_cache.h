// The memory layout of the KV cache, and the kernels that write and move its rows.
//
// A sequence owns pages of 64 slots. One page holds all layers; within a layer K comes first, transposed so that the
// scores of 64 keys are one vector expression per head_dim element, then V:
//   K [kv_heads][head_dim][64]   V [kv_heads][64][head_dim]      element type f32 or bf16
#pragma once

#include <cstddef>
#include <cstdint>

#include "minitorch/base/dtype.h"

namespace minitorch::kernels {

inline constexpr int kPageSlots = 64;  // also the block of exactness rule E2

struct KvLayout {
  DType dtype = DType::kF32;  // f32 or bf16
  std::int64_t kv_heads = 0;  // K
  std::int64_t head_dim = 0;  // D
};

// Bytes of one layer within a page.
constexpr std::int64_t kv_layer_bytes(const KvLayout& layout) {
  return 2 * layout.kv_heads * layout.head_dim * kPageSlots * static_cast<std::int64_t>(size_of(layout.dtype));
}

// One sequence's pages as seen by one layer: page p of this layer starts at pages[p] + layer_offset.
struct KvPages {
  std::byte* const* pages = nullptr;
  std::int64_t layer_offset = 0;
};

// Where a new row's keys and values go.
struct KvSlot {
  std::int32_t sequence = 0;  // index into KvStoreArgs::sequences
  std::int32_t slot = 0;      // slot / 64 is the page, slot % 64 the place in it
};

// Stores k and v [M, kv_heads, head_dim] f32, rounded to the cache's dtype (nearest even), into their slots.
struct KvStoreArgs {
  KvLayout layout;
  const KvPages* sequences = nullptr;
  const KvSlot* slots = nullptr;  // [M]
  const float* k = nullptr;
  std::int64_t k_stride = 0;  // elements between rows
  const float* v = nullptr;
  std::int64_t v_stride = 0;
  std::int64_t rows = 0;  // M
};

// Copies slots within one sequence for all its layers: from[i] to to[i], in the order given. The caller passes to[i] <=
// from[i] in ascending order, so that no source is overwritten before it is read.
struct KvMoveArgs {
  KvLayout layout;
  std::byte* const* pages = nullptr;
  std::int64_t layers = 0;
  const std::int32_t* from = nullptr;
  const std::int32_t* to = nullptr;
  std::int64_t count = 0;
};

}  // namespace minitorch::kernels
