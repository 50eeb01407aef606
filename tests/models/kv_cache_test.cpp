// KVCache: slots, logical order, paths of draft trees, pages, and errors that change nothing.
#include "models/kv_cache.h"

#include <cstring>
#include <vector>

#include "kernels/kernel_table.h"
#include "minitorch/base/error.h"
#include "minitorch/base/philox.h"
#include "minitorch/base/thread_pool.h"
#include "tests/support/data.h"

namespace minitorch::test {
namespace {

using models::CacheShape;
using models::KVCache;
using Ids = std::vector<std::int32_t>;

constexpr std::int32_t kRoot = KVCache::kRoot;
constexpr CacheShape kTokensOnly{};

Ids tokens_of(const KVCache& cache) { return {cache.tokens().begin(), cache.tokens().end()}; }

// The slots row `index` sees, in logical order.
Ids slots_seen(const KVCache& cache, std::int32_t index) {
  const kernels::AttentionRow row = cache.attention_row(index, 0);
  Ids slots;
  for (std::int32_t p = 0; p < row.num_linear; ++p) slots.push_back(p);
  for (std::int32_t p = row.num_linear; p < row.num_keys; ++p) slots.push_back(row.tail[p - row.num_linear]);
  return slots;
}

KVCache committed(std::int32_t capacity, const Ids& tokens) {
  KVCache cache(kTokensOnly, capacity);
  for (const std::int32_t token : tokens) static_cast<void>(cache.append(token, cache.num_pending() - 1));
  cache.keep_chain();
  return cache;
}

TEST_CASE("a chain of pending rows needs no tail and takes the positions behind the committed tokens") {
  KVCache cache = committed(20, {10, 11, 12});
  CHECK(cache.length() == 3);
  CHECK(cache.append(20, kRoot) == 0);
  CHECK(cache.append(21, 0) == 1);
  CHECK(cache.append(22, 1) == 2);
  CHECK(cache.num_pending() == 3);
  CHECK(tokens_of(cache) == Ids{10, 11, 12, 20, 21, 22});
  CHECK(cache.slot_of(2) == 5);
  CHECK(cache.position_of(2) == 5);
  CHECK(cache.attention_row(2, 7).sequence == 7);
  CHECK(cache.attention_row(2, 0).num_linear == 6);
  CHECK(slots_seen(cache, 2) == Ids{0, 1, 2, 3, 4, 5});
  CHECK(cache.path_tokens(2) == Ids{20, 21, 22});
}

TEST_CASE("rows of a tree see their ancestors in logical order wherever these are stored") {
  KVCache cache = committed(20, {10, 11});
  //            index: 0           1         2             3         4           5            6
  for (const auto& [token, parent] : {std::pair{20, kRoot}, {30, kRoot}, {21, 0}, {31, 1}, {22, 2}, {32, 3}, {23, 2}}) {
    static_cast<void>(cache.append(token, parent));
  }
  CHECK(slots_seen(cache, 0) == Ids{0, 1, 2});
  CHECK(slots_seen(cache, 1) == Ids{0, 1, 3});
  CHECK(slots_seen(cache, 2) == Ids{0, 1, 2, 4});
  CHECK(slots_seen(cache, 3) == Ids{0, 1, 3, 5});
  CHECK(slots_seen(cache, 4) == Ids{0, 1, 2, 4, 6});
  CHECK(slots_seen(cache, 5) == Ids{0, 1, 3, 5, 7});
  CHECK(slots_seen(cache, 6) == Ids{0, 1, 2, 4, 8});
  CHECK(cache.position_of(1) == 2);
  CHECK(cache.position_of(6) == 4);
  CHECK(cache.path_tokens(5) == Ids{30, 31, 32});
  CHECK(cache.path_tokens(6) == Ids{20, 21, 23});
}

TEST_CASE("keep commits one path in order and drops all other rows") {
  KVCache cache = committed(20, {10, 11});
  for (const auto& [token, parent] : {std::pair{20, kRoot}, {30, kRoot}, {21, 0}, {31, 1}, {32, 3}}) {
    static_cast<void>(cache.append(token, parent));
  }
  cache.keep(Ids{1, 3, 4});
  CHECK(cache.length() == 5);
  CHECK(cache.num_pending() == 0);
  CHECK(tokens_of(cache) == Ids{10, 11, 30, 31, 32});
  static_cast<void>(cache.append(40, kRoot));
  CHECK(slots_seen(cache, 0) == Ids{0, 1, 2, 3, 4, 5});
  cache.keep({});
  CHECK(tokens_of(cache) == Ids{10, 11, 30, 31, 32});
}

TEST_CASE("truncate forgets committed tokens and all pending rows") {
  KVCache cache = committed(20, {10, 11, 12, 13});
  static_cast<void>(cache.append(20, kRoot));
  cache.truncate(2);
  CHECK(cache.length() == 2);
  CHECK(cache.num_pending() == 0);
  CHECK(tokens_of(cache) == Ids{10, 11});
  CHECK(cache.append(30, kRoot) == 0);
  CHECK(cache.slot_of(0) == 2);
  cache.truncate(2);
  CHECK(tokens_of(cache) == Ids{10, 11});
  cache.truncate(0);
  CHECK(cache.length() == 0);
}

// Everything a caller can see.
struct Snapshot {
  std::int32_t length, num_pending;
  Ids tokens;
  std::vector<Ids> seen;
  bool operator==(const Snapshot&) const = default;
};

Snapshot snapshot(const KVCache& cache) {
  Snapshot all{cache.length(), cache.num_pending(), tokens_of(cache), {}};
  for (std::int32_t i = 0; i < cache.num_pending(); ++i) all.seen.push_back(slots_seen(cache, i));
  return all;
}

TEST_CASE("errors leave the cache as it was") {
  KVCache cache = committed(7, {10, 11});
  for (const auto& [token, parent] : {std::pair{20, kRoot}, {30, kRoot}, {21, 0}, {31, 1}}) {
    static_cast<void>(cache.append(token, parent));
  }
  const Snapshot before = snapshot(cache);
  CHECK_THROWS_WITH_AS(static_cast<void>(cache.append(1, 4)), "KVCache: expected a parent from -1 to 3, got 4", Error);
  CHECK_THROWS_AS(static_cast<void>(cache.append(1, -2)), Error);
  CHECK_THROWS_AS(cache.keep(Ids{2}), Error);        // not below the root
  CHECK_THROWS_AS(cache.keep(Ids{0, 3}), Error);     // 3 follows 1
  CHECK_THROWS_AS(cache.keep(Ids{0, 2, 0}), Error);  // turns back
  CHECK_THROWS_AS(cache.keep(Ids{0, 4}), Error);     // no such row
  CHECK_THROWS_AS(cache.keep(Ids{-1}), Error);
  CHECK_THROWS_AS(cache.keep_chain(), Error);
  CHECK_THROWS_AS(cache.truncate(3), Error);
  CHECK_THROWS_AS(cache.truncate(-1), Error);
  CHECK_THROWS_AS(cache.reserve(8), Error);
  CHECK_THROWS_AS(static_cast<void>(cache.position_of(4)), Error);
  CHECK_THROWS_AS(static_cast<void>(cache.attention_row(-1, 0)), Error);
  CHECK(snapshot(cache) == before);
  static_cast<void>(cache.append(22, 2));
  const Snapshot full = snapshot(cache);
  CHECK_THROWS_WITH_AS(static_cast<void>(cache.append(23, 4)),
                       "KVCache: all 7 slots are taken (2 committed, 5 pending)", Error);
  CHECK(snapshot(cache) == full);
}

TEST_CASE("impossible shapes and capacities are refused") {
  CHECK_THROWS_AS(KVCache(kTokensOnly, 0), Error);
  CHECK_THROWS_AS(KVCache(kTokensOnly, -1), Error);
  CHECK_THROWS_AS(KVCache({.layers = -1, .layout = {}}, 8), Error);
  CHECK_THROWS_AS(KVCache({.layers = 1, .layout = {.dtype = DType::kF32, .kv_heads = 0, .head_dim = 4}}, 8), Error);
  CHECK_THROWS_AS(KVCache({.layers = 1, .layout = {.dtype = DType::kF16, .kv_heads = 1, .head_dim = 4}}, 8),
                  DTypeError);
}

// A model of what the rows hold: key/value numbers by slot, written through kv_store, compared after moves.
class FilledCache {
 public:
  static constexpr std::int64_t kLayers = 3;
  static constexpr std::int64_t kHeads = 2;
  static constexpr std::int64_t kHeadDim = 5;

  FilledCache(DType dtype, const kernels::KernelTable& table)
      : table_(table), threads_(2), cache_(shape(dtype), 300, Runtime{&table, &threads_}) {}

  static CacheShape shape(DType dtype) {
    return {.layers = kLayers, .layout = {.dtype = dtype, .kv_heads = kHeads, .head_dim = kHeadDim}};
  }

  KVCache& cache() { return cache_; }

  // Appends a row whose keys and values follow from `token`.
  std::int32_t append(std::int32_t token, std::int32_t parent) {
    const std::int32_t index = cache_.append(token, parent);
    for (std::int64_t layer = 0; layer < kLayers; ++layer) store(layer, cache_.slot_of(index), token);
    return index;
  }

  // True when every committed slot still holds what its token says.
  bool consistent() {
    for (std::int32_t slot = 0; slot < cache_.length(); ++slot) {
      for (std::int64_t layer = 0; layer < kLayers; ++layer) {
        if (!holds(layer, slot, cache_.tokens()[static_cast<std::size_t>(slot)])) return false;
      }
    }
    return true;
  }

 private:
  static std::vector<float> numbers(std::int64_t layer, std::int32_t token, int part) {
    std::vector<float> all;  // small integers, exact in bf16
    for (std::int64_t i = 0; i < kHeads * kHeadDim; ++i)
      all.push_back(static_cast<float>((token * 7 + layer * 31 + part * 13 + i * 5) % 251));
    return all;
  }

  void store(std::int64_t layer, std::int32_t slot, std::int32_t token) {
    const kernels::KvPages pages = cache_.layer_pages(layer);
    const kernels::KvSlot place{.sequence = 0, .slot = slot};
    const auto keys = numbers(layer, token, 0);
    const auto values = numbers(layer, token, 1);
    table_.kv_store(kernels::Context{.pool = threads_}, {.layout = cache_.shape().layout,
                                                         .sequences = &pages,
                                                         .slots = &place,
                                                         .k = keys.data(),
                                                         .k_stride = kHeads * kHeadDim,
                                                         .v = values.data(),
                                                         .v_stride = kHeads * kHeadDim,
                                                         .rows = 1});
  }

  // Reads the layout of kernels/ops/kv_cache.h by hand.
  bool holds(std::int64_t layer, std::int32_t slot, std::int32_t token) {
    const kernels::KvPages pages = cache_.layer_pages(layer);
    const std::byte* page = pages.pages[slot / kernels::kPageSlots] + pages.layer_offset;
    const std::int64_t place = slot % kernels::kPageSlots;
    const std::int64_t k_size = kHeads * kHeadDim * kernels::kPageSlots;
    const auto keys = numbers(layer, token, 0);
    const auto values = numbers(layer, token, 1);
    for (std::int64_t h = 0; h < kHeads; ++h) {
      for (std::int64_t d = 0; d < kHeadDim; ++d) {
        const auto i = static_cast<std::size_t>(h * kHeadDim + d);
        const float key = element(page, (h * kHeadDim + d) * kernels::kPageSlots + place);
        const float value = element(page, k_size + (h * kernels::kPageSlots + place) * kHeadDim + d);
        if (key != keys[i] || value != values[i]) return false;
      }
    }
    return true;
  }

  float element(const std::byte* page, std::int64_t index) const {
    if (cache_.shape().layout.dtype == DType::kF32) {
      float value = 0;
      std::memcpy(&value, page + index * 4, 4);
      return value;
    }
    BFloat16 value;
    std::memcpy(&value.bits, page + index * 2, 2);
    return to_float(value);
  }

  const kernels::KernelTable& table_;
  ThreadPool threads_;
  KVCache cache_;
};

TEST_CASE("keys and values follow their tokens through scattered paths, across pages, on every table and dtype") {
  std::vector<const kernels::KernelTable*> tables{&kernels::reference_table()};
  tables.insert(tables.end(), kernels::cpu_tables().begin(), kernels::cpu_tables().end());
  for (const kernels::KernelTable* table : tables) {
    for (const DType dtype : {DType::kF32, DType::kBF16}) {
      CAPTURE(table->name);
      CAPTURE(name_of(dtype));
      FilledCache filled(dtype, *table);
      KVCache& cache = filled.cache();
      PhiloxStream stream(5);
      Ids expected;
      for (int round = 0; round < 60; ++round) {
        std::vector<Ids> path_to;
        for (int node = 0; node < 12; ++node) {
          const auto parent = static_cast<std::int32_t>(stream.below(static_cast<std::uint32_t>(node) + 1)) - 1;
          Ids path = parent < 0 ? Ids{} : path_to[static_cast<std::size_t>(parent)];
          path.push_back(filled.append(static_cast<std::int32_t>(stream.below(1000)), parent));
          path_to.push_back(path);
        }
        const Ids path = path_to[stream.below(12)];
        for (const std::int32_t node : path)
          expected.push_back(cache.tokens()[static_cast<std::size_t>(cache.slot_of(node))]);
        cache.keep(path);
        REQUIRE(tokens_of(cache) == expected);
        REQUIRE(filled.consistent());
      }
      CHECK(cache.length() > kernels::kPageSlots);  // the tree crossed a page border on the way
    }
  }
}

TEST_CASE("pages are taken when first needed, all at once by reserve, and never twice") {
  const CacheShape shape = FilledCache::shape(DType::kF32);
  KVCache cache(shape, 200);
  const std::int64_t page = 3 * kernels::kv_layer_bytes(shape.layout);
  CHECK(cache.bytes() == 0);
  for (std::int32_t i = 0; i < 64; ++i) static_cast<void>(cache.append(i, i - 1));
  CHECK(cache.bytes() == page);
  static_cast<void>(cache.append(64, 63));
  CHECK(cache.bytes() == 2 * page);
  const std::byte* first = cache.layer_pages(0).pages[0];
  cache.reserve(200);
  CHECK(cache.bytes() == 4 * page);
  CHECK(cache.layer_pages(0).pages[0] == first);
  CHECK(cache.layer_pages(2).layer_offset == 2 * kernels::kv_layer_bytes(shape.layout));
  cache.truncate(0);
  cache.reserve(10);
  CHECK(cache.bytes() == 4 * page);
  CHECK_THROWS_AS(static_cast<void>(cache.layer_pages(3)), Error);
}

TEST_CASE("long draft branches share the memory of their lists") {
  KVCache cache(kTokensOnly, 20000);
  static_cast<void>(cache.append(1, kRoot));
  std::int32_t last = cache.append(2, kRoot);  // off the straight line from here on
  for (std::int32_t i = 0; i < 15000; ++i) last = cache.append(i, last);
  const kernels::AttentionRow row = cache.attention_row(last, 0);
  CHECK(row.num_keys == 15001);
  CHECK(row.num_linear == 0);
  CHECK(row.tail == cache.attention_row(1, 0).tail);
}

}  // namespace
}  // namespace minitorch::test
