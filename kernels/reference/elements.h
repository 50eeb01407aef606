// Single elements of packed matrices and KV pages, widened to double: the layouts of packed_matrix.h and kv_cache.h
// written out.
#pragma once

#include <cstring>

#include "kernels/ops/kv_cache.h"
#include "kernels/packed_matrix.h"
#include "minitorch/base/float16.h"

namespace minitorch::kernels::reference {

// Element `index` of an array of f32 or bf16 at `base`.
inline float float_at(const std::byte* base, DType dtype, std::int64_t index) {
  if (dtype == DType::kBF16) {
    BFloat16 value;
    std::memcpy(&value, base + index * 2, sizeof(value));
    return to_float(value);
  }
  float value = 0.0f;
  std::memcpy(&value, base + index * 4, sizeof(value));
  return value;
}

// Stores `value` as element `index` of an array of f32 or bf16 at `base`.
inline void set_float_at(std::byte* base, DType dtype, std::int64_t index, float value) {
  if (dtype == DType::kBF16) {
    const BFloat16 rounded = to_bfloat16(value);
    std::memcpy(base + index * 2, &rounded, sizeof(rounded));
  } else {
    std::memcpy(base + index * 4, &value, sizeof(value));
  }
}

// q and scale of W[n, k] of an int8 or int4 matrix; the scale is that of a whole group.
inline std::int32_t quant_at(const PackedView& weight, std::int64_t n, std::int64_t k) {
  const std::byte* panel = weight.panels + n / kPanelWidth * panel_bytes(weight.format, weight.cols);
  const std::int64_t lane = n % kPanelWidth;
  if (weight.format == PackedFormat::kInt8) {
    return std::to_integer<std::int32_t>(panel[(k / 4 * kPanelWidth + lane) * 4 + k % 4]) - kInt8Offset;
  }
  const auto both = std::to_integer<std::int32_t>(panel[(k / 8 * kPanelWidth + lane) * 4 + k % 4]);
  return (k % 8 < 4 ? both & 15 : both >> 4) - kInt4Offset;
}
inline float scale_at(const PackedView& weight, std::int64_t n, std::int64_t group) {
  const std::byte* panel = weight.panels + n / kPanelWidth * panel_bytes(weight.format, weight.cols);
  Float16 scale;
  std::memcpy(&scale, panel + scales_offset(weight.format, weight.cols) + (group * kPanelWidth + n % kPanelWidth) * 2,
              sizeof(scale));
  return to_float(scale);
}

// W[n, k] of a packed matrix.
inline float weight_at(const PackedView& weight, std::int64_t n, std::int64_t k) {
  const std::byte* panel = weight.panels + n / kPanelWidth * panel_bytes(weight.format, weight.cols);
  const std::int64_t lane = n % kPanelWidth;
  switch (weight.format) {
    case PackedFormat::kF32: return float_at(panel, DType::kF32, k * kPanelWidth + lane);
    case PackedFormat::kBF16: return float_at(panel, DType::kBF16, (k / 2 * kPanelWidth + lane) * 2 + k % 2);
    case PackedFormat::kInt8:
    case PackedFormat::kInt4: return static_cast<float>(quant_at(weight, n, k)) * scale_at(weight, n, k / kGroupCols);
  }
  return 0.0f;
}

// Index of K[head, d, slot % 64] within one layer of a page.
inline std::int64_t k_index(const KvLayout& layout, std::int64_t head, std::int64_t d, std::int64_t slot) {
  return (head * layout.head_dim + d) * kPageSlots + slot % kPageSlots;
}

// Index of V[head, slot % 64, d] within one layer of a page.
inline std::int64_t v_index(const KvLayout& layout, std::int64_t head, std::int64_t d, std::int64_t slot) {
  const std::int64_t k_elements = layout.kv_heads * layout.head_dim * kPageSlots;
  return k_elements + (head * kPageSlots + slot % kPageSlots) * layout.head_dim + d;
}

// The layer's part of the page that holds `slot`.
inline std::byte* layer_page(const KvPages& sequence, std::int64_t slot) {
  return sequence.pages[slot / kPageSlots] + sequence.layer_offset;
}

}  // namespace minitorch::kernels::reference
