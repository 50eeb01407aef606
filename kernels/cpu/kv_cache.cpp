// kv_store and kv_move: rows into and between the slots of paged K and V.
#include <cstring>  // std::memcpy

#include "kernels/cpu/parallel.h"
#include "kernels/cpu/portable.h"
#include "minitorch/base/float16.h"

namespace minitorch::kernels::portable {
namespace {

constexpr std::int64_t kParallelElements = 16 * 1024;

void convert(float value, float& out) { out = value; }
void convert(float value, BFloat16& out) { out = to_bfloat16(value); }

// One row of k and v into its slot. K is transposed, so its elements land 64 apart.
template <typename Element>
void store_row(const KvStoreArgs& args, std::int64_t m) {
  const KvSlot& slot = args.slots[m];
  const KvPages& sequence = args.sequences[slot.sequence];
  const std::int64_t place = slot.slot % kPageSlots;
  const std::int64_t dim = args.layout.head_dim;
  const std::int64_t elements = args.layout.kv_heads * dim;
  auto* keys = reinterpret_cast<Element*>(sequence.pages[slot.slot / kPageSlots] + sequence.layer_offset);
  Element* values = keys + elements * kPageSlots;
  const float* k = args.k + m * args.k_stride;
  for (std::int64_t i = 0; i < elements; ++i) convert(k[i], keys[i * kPageSlots + place]);
  for (std::int64_t h = 0; h < args.layout.kv_heads; ++h) {
    const float* v = args.v + m * args.v_stride + h * dim;
    Element* out = values + (h * kPageSlots + place) * dim;
    for (std::int64_t d = 0; d < dim; ++d) convert(v[d], out[d]);
  }
}

template <typename Element>
void store_rows(const KvStoreArgs& args, std::int64_t begin, std::int64_t end) {
  for (std::int64_t m = begin; m < end; ++m) store_row<Element>(args, m);
}

// All moves within one layer and head. A slot's K is one element of each of the head's D rows of 64, its V one row.
template <typename Element>
void move_head(const KvMoveArgs& args, std::int64_t k_offset, std::int64_t v_offset) {
  const std::int64_t dim = args.layout.head_dim;
  for (std::int64_t i = 0; i < args.count; ++i) {
    const std::byte* from_page = args.pages[args.from[i] / kPageSlots];
    std::byte* to_page = args.pages[args.to[i] / kPageSlots];
    const std::int64_t from = args.from[i] % kPageSlots;
    const std::int64_t to = args.to[i] % kPageSlots;
    const auto* from_k = reinterpret_cast<const Element*>(from_page + k_offset);
    auto* to_k = reinterpret_cast<Element*>(to_page + k_offset);
    for (std::int64_t d = 0; d < dim; ++d) to_k[d * kPageSlots + to] = from_k[d * kPageSlots + from];
    const auto* from_v = reinterpret_cast<const Element*>(from_page + v_offset) + from * dim;
    auto* to_v = reinterpret_cast<Element*>(to_page + v_offset) + to * dim;
    if (to_v != from_v) std::memcpy(to_v, from_v, static_cast<std::size_t>(dim) * sizeof(Element));
  }
}

template <typename Element>
void move_slots(const KvMoveArgs& args) {
  const std::int64_t head_bytes = args.layout.head_dim * kPageSlots * static_cast<std::int64_t>(sizeof(Element));
  const std::int64_t layer_bytes = kv_layer_bytes(args.layout);
  for (std::int64_t layer = 0; layer < args.layers; ++layer) {
    for (std::int64_t h = 0; h < args.layout.kv_heads; ++h) {
      const std::int64_t k_offset = layer * layer_bytes + h * head_bytes;
      move_head<Element>(args, k_offset, k_offset + layer_bytes / 2);
    }
  }
}

}  // namespace

void kv_store(const Context& context, const KvStoreArgs& args) {
  const auto store = [&](std::int64_t begin, std::int64_t end) {
    if (args.layout.dtype == DType::kBF16) return store_rows<BFloat16>(args, begin, end);
    store_rows<float>(args, begin, end);
  };
  if (args.rows * args.layout.kv_heads * args.layout.head_dim < kParallelElements) return store(0, args.rows);
  context.pool.run([&](int worker, int count) {
    const Range part = part_of(args.rows, worker, count);
    store(part.begin, part.end);
  });
}

void kv_move(const Context&, const KvMoveArgs& args) {
  if (args.layout.dtype == DType::kBF16) return move_slots<BFloat16>(args);
  move_slots<float>(args);
}

}  // namespace minitorch::kernels::portable
