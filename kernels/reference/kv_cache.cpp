// Reference kv_store and kv_move: element by element.
#include "kernels/reference/elements.h"
#include "kernels/reference/reference.h"

namespace minitorch::kernels::reference {

void kv_store(const Context&, const KvStoreArgs& args) {
  const KvLayout& layout = args.layout;
  for (std::int64_t m = 0; m < args.rows; ++m) {
    const std::int64_t slot = args.slots[m].slot;
    std::byte* page = layer_page(args.sequences[args.slots[m].sequence], slot);
    for (std::int64_t h = 0; h < layout.kv_heads; ++h) {
      for (std::int64_t d = 0; d < layout.head_dim; ++d) {
        const std::int64_t element = h * layout.head_dim + d;
        set_float_at(page, layout.dtype, k_index(layout, h, d, slot), args.k[m * args.k_stride + element]);
        set_float_at(page, layout.dtype, v_index(layout, h, d, slot), args.v[m * args.v_stride + element]);
      }
    }
  }
}

void kv_move(const Context&, const KvMoveArgs& args) {
  const KvLayout& layout = args.layout;
  const auto element_bytes = static_cast<std::int64_t>(size_of(layout.dtype));
  for (std::int64_t i = 0; i < args.count; ++i) {
    for (std::int64_t layer = 0; layer < args.layers; ++layer) {
      const KvPages sequence{args.pages, layer * kv_layer_bytes(layout)};
      const std::byte* source = layer_page(sequence, args.from[i]);
      std::byte* destination = layer_page(sequence, args.to[i]);
      for (std::int64_t h = 0; h < layout.kv_heads; ++h) {
        for (std::int64_t d = 0; d < layout.head_dim; ++d) {
          std::memmove(destination + k_index(layout, h, d, args.to[i]) * element_bytes,
                       source + k_index(layout, h, d, args.from[i]) * element_bytes,
                       static_cast<std::size_t>(element_bytes));
          std::memmove(destination + v_index(layout, h, d, args.to[i]) * element_bytes,
                       source + v_index(layout, h, d, args.from[i]) * element_bytes,
                       static_cast<std::size_t>(element_bytes));
        }
      }
    }
  }
}

}  // namespace minitorch::kernels::reference
