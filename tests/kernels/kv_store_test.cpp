// kv_store: rows land in their slots, rounded to the cache's type, and nowhere else.
#include <doctest/doctest.h>

#include "tests/kernels/paged_cache.h"
#include "tests/kernels/table_walk.h"

namespace minitorch::test {
namespace {

using kernels::KernelTable;
using kernels::KvSlot;

struct StoreCase {
  kernels::KvLayout layout;
  std::int64_t rows;
  std::int64_t gap;
  int threads;
};

// The cache's bytes after a store into layer 1 of two sequences.
std::vector<std::byte> store(const KernelTable& table, const StoreCase& c) {
  PhiloxStream random(9);
  PagedCache cache(c.layout, /*sequences=*/2, /*pages_each=*/3, /*layers=*/2);
  const std::int64_t width = cache.row_size();
  const GuardedRows<float> k = random_rows(c.rows, width, random, width + c.gap, 1);
  const GuardedRows<float> v = random_rows(c.rows, width, random, width + c.gap, 2);
  std::vector<KvSlot> slots;
  for (std::int64_t i = 0; i < c.rows; ++i) {
    slots.push_back({static_cast<std::int32_t>(i % 2), static_cast<std::int32_t>((i * 67 + 5) % 192)});
  }
  table.kv_store({.pool = pool_of(c.threads)}, {.layout = c.layout,
                                                .sequences = cache.layer(1),
                                                .slots = slots.data(),
                                                .k = k.data(),
                                                .k_stride = k.stride(),
                                                .v = v.data(),
                                                .v_stride = v.stride(),
                                                .rows = c.rows});
  return {cache.bytes().begin(), cache.bytes().end()};
}

TEST_CASE("kv_store conforms to the reference for every layout") {
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    for (const std::int64_t head_dim : {1, 7, 8, 12, 64, 80, 128}) {
      for (const std::int64_t rows : {0, 1, 3, 66, 150}) {
        const StoreCase c{{dtype, 2, head_dim}, rows, rows % 2, 3};
        CAPTURE(head_dim);
        CAPTURE(rows);
        const std::vector<std::byte> expected = store(kernels::reference_table(), c);
        on_every_table("kv_store", [&](const KernelTable& table) { CHECK(store(table, c) == expected); });
      }
    }
  }
}

TEST_CASE("kv_store writes K transposed and V by slot, as the layout says") {
  on_every_table("kv_store", [&](const KernelTable& table) {
    const kernels::KvLayout layout{DType::kF32, 2, 3};
    PagedCache cache(layout, 1, 2);
    const float k[] = {1, 2, 3, 4, 5, 6};
    const float v[] = {7, 8, 9, 10, 11, 12};
    const KvSlot slot{0, 64 + 10};
    table.kv_store({.pool = pool_of(1)},
                   {.layout = layout, .sequences = cache.layer(0), .slots = &slot, .k = k, .v = v, .rows = 1});
    const auto* page = reinterpret_cast<const float*>(cache.pages(0)[1]);
    for (int i = 0; i < 6; ++i) CHECK(page[i * 64 + 10] == k[i]);
    const float* values = page + 6 * 64;
    for (int d = 0; d < 3; ++d) CHECK(values[10 * 3 + d] == v[d]);
    for (int d = 0; d < 3; ++d) CHECK(values[(64 + 10) * 3 + d] == v[3 + d]);
  });
}

}  // namespace
}  // namespace minitorch::test
