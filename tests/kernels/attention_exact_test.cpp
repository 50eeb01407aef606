// attention: exactness rules E1 and E2, bit by bit.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>  // std::iota

#include "tests/kernels/attention_support.h"
#include "tests/kernels/table_walk.h"

namespace minitorch::test {
namespace {

using kernels::KernelTable;

constexpr DType kCacheTypes[] = {DType::kF32, DType::kBF16};

// The number of rows of `a` that differ from rows `first` and following of `b`.
std::int64_t count_differing(const GuardedRows<float>& a, const GuardedRows<float>& b, std::int64_t first = 0) {
  std::int64_t differing = 0;
  for (std::int64_t m = 0; m < a.rows(); ++m) differing += same_bits(a.row(m), b.row(first + m), a.cols()) ? 0 : 1;
  return differing;
}

TEST_CASE("attention gives a row the same bits alone, in every batch and on any number of threads (E1)") {
  constexpr std::int64_t kRows = 300;
  std::vector<std::int64_t> batches(17);
  std::iota(batches.begin(), batches.end(), 1);
  batches.insert(batches.end(), {64, kRows});
  for (const DType dtype : kCacheTypes) {
    PhiloxStream random(21);
    AttentionProblem problem({dtype, 2, 3, 32}, random);
    for (std::int32_t m = 0; m < kRows; ++m) problem.add_row(m + 1, random);
    for (const KernelTable* table : kernels::cpu_tables()) {
      const GuardedRows<float> expected = problem.run(*table, 1);
      std::int64_t first = 0;
      for (int threads = 1; threads <= 4; ++threads) {
        for (const std::int64_t count : batches) {
          CAPTURE(table->name);
          CAPTURE(threads);
          CAPTURE(count);
          first = count == kRows ? 0 : (first * 31 + 17) % (kRows - count);
          CHECK(count_differing(problem.run_rows(*table, threads, first, count), expected, first) == 0);
        }
      }
    }
  }
}

// A random tree of nodes behind a common prefix, each node with keys and values of its own.
struct Tree {
  Tree(std::int32_t nodes, std::int64_t row_size, PhiloxStream& random) {
    for (std::int32_t i = 0; i < nodes; ++i) {
      parent.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(i + 1))) - 1);
      k.push_back(random_floats(row_size, random));
      v.push_back(random_floats(row_size, random));
    }
  }
  // Nodes from the first below the prefix to `node` itself.
  [[nodiscard]] std::vector<std::int32_t> path(std::int32_t node) const {
    std::vector<std::int32_t> nodes;
    for (; node >= 0; node = parent[static_cast<std::size_t>(node)]) nodes.push_back(node);
    std::reverse(nodes.begin(), nodes.end());
    return nodes;
  }
  std::vector<std::int32_t> parent;  // -1: the prefix
  std::vector<std::vector<float>> k, v;
};

// Sequence 0 of the problem holds the tree in the slots `slot_of_node`; for each node, sequence 1 is filled with its
// path in order and must give the same bits.
void check_tree(AttentionProblem& problem, const Tree& tree, std::int32_t prefix,
                const std::vector<std::int32_t>& slot_of_node, PhiloxStream& random) {
  const auto nodes = static_cast<std::int32_t>(tree.parent.size());
  std::vector<std::vector<float>> queries;
  for (std::int32_t node = 0; node < nodes; ++node) {
    problem.cache.put(0, {0, slot_of_node[node]}, tree.k[node].data(), tree.v[node].data());
    std::vector<std::int32_t> slots = tree.path(node);
    for (std::int32_t& slot : slots) slot = slot_of_node[slot];
    queries.push_back(random_floats(problem.cache.row_size() * 2, random));
    problem.add_path(0, prefix, slots, queries.back());
  }
  for (const KernelTable* table : kernels::cpu_tables()) {
    CAPTURE(table->name);
    const GuardedRows<float> together = problem.run_rows(*table, 2, 0, nodes);
    std::int64_t differing = 0;
    for (std::int32_t node = 0; node < nodes; ++node) {
      const std::vector<std::int32_t> path = tree.path(node);
      for (std::size_t i = 0; i < path.size(); ++i) {
        problem.cache.put(0, {1, prefix + static_cast<std::int32_t>(i)}, tree.k[path[i]].data(),
                          tree.v[path[i]].data());
      }
      problem.rows.resize(static_cast<std::size_t>(nodes));
      problem.queries.resize(queries.size() * queries[0].size());
      const auto keys = prefix + static_cast<std::int32_t>(path.size());
      problem.add_path(1, keys, {}, queries[node]);
      differing += count_differing(problem.run_rows(*table, 1, nodes, 1), together, node);
    }
    CHECK(differing == 0);
  }
}

TEST_CASE("attention gives a path of a draft tree the same bits wherever its slots are (E2)") {
  for (const DType dtype : kCacheTypes) {
    for (const std::int32_t prefix : {0, 1, 50, 60, 63, 64, 65, 120, 127, 128, 129}) {
      CAPTURE(name_of(dtype));
      CAPTURE(prefix);
      PhiloxStream random(static_cast<std::uint64_t>(prefix) + 100);
      AttentionProblem problem({dtype, 1, 2, 24}, random, /*sequences=*/2);
      // Both sequences hold the same prefix.
      for (std::int32_t slot = 0; slot < prefix; ++slot) {
        const std::vector<float> k = random_floats(problem.cache.row_size(), random);
        const std::vector<float> v = random_floats(problem.cache.row_size(), random);
        for (std::int32_t sequence = 0; sequence < 2; ++sequence)
          problem.cache.put(0, {sequence, slot}, k.data(), v.data());
      }
      const Tree tree(/*nodes=*/40, problem.cache.row_size(), random);
      // A random choice of slots behind the prefix, over several pages.
      std::vector<std::int32_t> slots(static_cast<std::size_t>(AttentionProblem::kSlots - prefix));
      std::iota(slots.begin(), slots.end(), prefix);
      for (std::size_t i = slots.size() - 1; i > 0; --i)
        std::swap(slots[i], slots[random.below(static_cast<std::uint32_t>(i + 1))]);
      check_tree(problem, tree, prefix, slots, random);
    }
  }
}

TEST_CASE(
    "attention splits a row at the same logical positions whether its slots are linear or given one by one (E2)") {
  for (const DType dtype : kCacheTypes) {
    for (const std::int32_t keys : {1, 63, 64, 65, 127, 128, 129, 200}) {
      CAPTURE(keys);
      PhiloxStream random(static_cast<std::uint64_t>(keys));
      AttentionProblem problem({dtype, 2, 1, 16}, random);
      const std::vector<float> query = random_floats(2 * 16, random);
      for (std::int32_t linear = 0; linear <= keys; linear += std::max(1, keys / 5)) {
        std::vector<std::int32_t> tail(static_cast<std::size_t>(keys - linear));
        std::iota(tail.begin(), tail.end(), linear);
        problem.add_path(0, linear, tail, query);
      }
      problem.add_path(0, keys, {}, query);
      for (const KernelTable* table : kernels::cpu_tables()) {
        CAPTURE(table->name);
        const GuardedRows<float> out = problem.run(*table, 1);
        std::int64_t differing = 0;
        for (std::int64_t m = 1; m < out.rows(); ++m)
          differing += same_bits(out.row(m), out.row(0), out.cols()) ? 0 : 1;
        CHECK(differing == 0);
      }
    }
  }
}

TEST_CASE("attention gives the same bits on every table with multiply-add") {
  const auto tables = tables_with_fma();
  for (const DType dtype : kCacheTypes) {
    PhiloxStream random(31);
    AttentionProblem problem({dtype, 2, 7, 80}, random);
    for (const std::int32_t keys : {1, 64, 100, 300}) problem.add_row(keys, random);
    problem.add_scattered_row(150, 20, random);
    for (const KernelTable* table : tables)
      CHECK(count_differing(problem.run(*table, 1), problem.run(*tables[0], 1)) == 0);
  }
}

}  // namespace
}  // namespace minitorch::test
