// kv_move: scattered slots become contiguous ones in every layer.
#include <doctest/doctest.h>

#include "tests/kernels/paged_cache.h"
#include "tests/kernels/table_walk.h"

namespace minitorch::test {
namespace {

using kernels::KernelTable;

// The cache's bytes after moving slots within a sequence whose bytes are all different from their neighbours.
std::vector<std::byte> move(const KernelTable& table, const kernels::KvLayout& layout,
                            const std::vector<std::int32_t>& from, std::int32_t first_to) {
  PhiloxStream random(5);
  PagedCache cache(layout, /*sequences=*/1, /*pages_each=*/3, /*layers=*/3);
  for (std::byte& byte : cache.bytes()) byte = static_cast<std::byte>(random.next_u32());
  std::vector<std::int32_t> to;
  for (std::size_t i = 0; i < from.size(); ++i) to.push_back(first_to + static_cast<std::int32_t>(i));
  table.kv_move({.pool = pool_of(2)}, {.layout = layout,
                                       .pages = cache.pages(0),
                                       .layers = 3,
                                       .from = from.data(),
                                       .to = to.data(),
                                       .count = static_cast<std::int64_t>(from.size())});
  return {cache.bytes().begin(), cache.bytes().end()};
}

TEST_CASE("kv_move conforms to the reference within and across pages, onto itself and over its own sources") {
  struct Case {
    std::vector<std::int32_t> from;
    std::int32_t first_to;
  };
  const Case cases[] = {{{}, 0},
                        {{5}, 5},
                        {{9}, 3},
                        {{3, 4, 5}, 2},
                        {{62, 65, 70}, 62},
                        {{64, 127, 128, 190}, 61},
                        {{63, 64, 65, 66}, 63}};
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    for (const std::int64_t head_dim : {1, 5, 16, 64}) {
      for (const Case& c : cases) {
        const kernels::KvLayout layout{dtype, 2, head_dim};
        CAPTURE(head_dim);
        CAPTURE(c.first_to);
        const std::vector<std::byte> expected = move(kernels::reference_table(), layout, c.from, c.first_to);
        on_every_table("kv_move",
                       [&](const KernelTable& table) { CHECK(move(table, layout, c.from, c.first_to) == expected); });
      }
    }
  }
}

TEST_CASE("kv_move makes a scattered path read like one that was stored in order") {
  on_every_table("kv_move", [&](const KernelTable& table) {
    PhiloxStream random(6);
    const kernels::KvLayout layout{DType::kBF16, 2, 8};
    PagedCache scattered(layout, 1, 2, 2);
    PagedCache ordered(layout, 1, 2, 2);
    const std::int32_t from[] = {61, 64, 66};
    const std::int32_t to[] = {60, 61, 62};
    for (int i = 0; i < 3; ++i) {
      for (int layer = 0; layer < 2; ++layer) {
        const std::vector<float> k = random_floats(16, random);
        const std::vector<float> v = random_floats(16, random);
        scattered.put(layer, {0, from[i]}, k.data(), v.data());
        ordered.put(layer, {0, to[i]}, k.data(), v.data());
        for (const std::int32_t stale : {64, 66}) {  // what the move leaves behind
          if (from[i] == stale) ordered.put(layer, {0, stale}, k.data(), v.data());
        }
      }
    }
    table.kv_move({.pool = pool_of(1)},
                  {.layout = layout, .pages = scattered.pages(0), .layers = 2, .from = from, .to = to, .count = 3});
    CHECK(std::equal(scattered.bytes().begin(), scattered.bytes().end(), ordered.bytes().begin()));
  });
}

}  // namespace
}  // namespace minitorch::test
