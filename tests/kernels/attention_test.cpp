// attention: conformance with the reference over head sizes, groups, lengths and scattered slots.
#include <doctest/doctest.h>

#include <limits>

#include "tests/kernels/attention_support.h"
#include "tests/kernels/table_walk.h"

namespace minitorch::test {
namespace {

using kernels::KernelTable;

struct AttentionCase {
  AttentionShape shape;
  std::vector<std::int32_t> num_keys;  // of each row
  bool scattered = false;              // the last keys of a row sit anywhere
  int threads = 1;
};

void check_conformance(const AttentionCase& c) {
  CAPTURE(c.shape.head_dim);
  CAPTURE(c.shape.kv_heads);
  CAPTURE(c.shape.group);
  CAPTURE(name_of(c.shape.dtype));
  CAPTURE(c.num_keys[0]);
  CAPTURE(c.scattered);
  PhiloxStream random(static_cast<std::uint64_t>(c.shape.head_dim * 131 + c.shape.group * 17 + c.num_keys[0]));
  AttentionProblem problem(c.shape, random);
  for (const std::int32_t keys : c.num_keys) {
    if (c.scattered) {
      problem.add_scattered_row(keys, std::min<std::int32_t>(keys, 9), random);
    } else {
      problem.add_row(keys, random);
    }
  }
  const GuardedRows<float> expected = problem.run(kernels::reference_table(), 1);
  on_every_table("attention", [&](const KernelTable& table) {
    const GuardedRows<float> out = problem.run(table, c.threads);
    std::int64_t wrong = 0;
    for (std::int64_t m = 0; m < out.rows(); ++m) {
      for (std::int64_t i = 0; i < out.cols(); ++i)
        wrong += near(out.row(m)[i], expected.row(m)[i], 1e-5) ? 0 : 1;  // |V| < 1
    }
    CHECK(wrong == 0);
    CHECK(out.guards_intact());
  });
}

constexpr DType kCacheTypes[] = {DType::kF32, DType::kBF16};

TEST_CASE("attention conforms to the reference for every head size and size of group") {
  for (const DType dtype : kCacheTypes) {
    for (const std::int64_t head_dim : {1, 2, 7, 8, 12, 15, 16, 17, 31, 48, 64, 80, 128}) {
      for (const std::int64_t group : {1, 2, 3, 4, 5, 6, 7, 8, 13, 17}) {
        check_conformance({{dtype, 2, group, head_dim}, {70}});
      }
    }
  }
}

TEST_CASE("attention conforms to the reference for every length around block borders") {
  for (const DType dtype : kCacheTypes) {
    for (const std::int32_t keys :
         {0, 1, 2, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 127, 128, 129, 191, 193, 300}) {
      check_conformance({{dtype, 1, 3, 24}, {keys, 1, keys}});
      check_conformance({{dtype, 2, 2, 64}, {keys}, /*scattered=*/true});
    }
  }
}

TEST_CASE("attention conforms to the reference at the shapes of real models") {
  for (const DType dtype : kCacheTypes) {
    check_conformance({{dtype, 4, 2, 8}, {1, 2, 3, 64, 200}});                                  // stories260K
    check_conformance({{dtype, 2, 7, 64}, {257, 258, 259}});                                    // 0.5B
    check_conformance({{dtype, 2, 6, 128}, {400, 401, 402, 403, 404}, /*scattered=*/true, 2});  // 1.5B
    check_conformance({{dtype, 8, 4, 128}, {130}, /*scattered=*/false, 4});                     // 8B
  }
}

TEST_CASE("attention with one key returns its value exactly") {
  on_every_table("attention", [&](const KernelTable& table) {
    PhiloxStream random(3);
    AttentionProblem problem({DType::kF32, 2, 3, 19}, random);
    problem.add_row(1, random);
    const GuardedRows<float> out = problem.run(table, 1);
    for (std::int64_t h = 0; h < 6; ++h) CHECK(same_bits(out.row(0) + h * 19, problem.value(0, 0, h / 3), 19));
  });
}

TEST_CASE("attention stays finite for scores far apart and passes a NaN on") {
  on_every_table("attention", [&](const KernelTable& table) {
    PhiloxStream random(4);
    AttentionProblem problem({DType::kF32, 1, 1, 16}, random);
    problem.add_row(200, random);
    problem.scale = 1e4f;
    const GuardedRows<float> expected = problem.run(kernels::reference_table(), 1);
    GuardedRows<float> out = problem.run(table, 1);
    for (int d = 0; d < 16; ++d)
      CHECK(near(out.row(0)[d], expected.row(0)[d], 2e-3));  // scores carry 1e4 times their error
    problem.queries[0] = std::numeric_limits<float>::quiet_NaN();
    out = problem.run(table, 1);
    for (int d = 0; d < 16; ++d) CHECK(std::isnan(out.row(0)[d]));
  });
}

TEST_CASE("attention does not look at what lies in slots outside the row") {
  on_every_table("attention", [&](const KernelTable& table) {
    PhiloxStream random(5);
    AttentionProblem problem({DType::kF32, 1, 2, 20}, random);
    problem.add_row(70, random);
    problem.add_scattered_row(40, 5, random);
    const GuardedRows<float> before = problem.run(table, 1);
    const std::vector<float> nan(20, std::numeric_limits<float>::quiet_NaN());
    for (std::int32_t slot = 0; slot < AttentionProblem::kSlots; ++slot) {
      if (!problem.sees(slot)) problem.cache.put(0, {0, slot}, nan.data(), nan.data());
    }
    const GuardedRows<float> after = problem.run(table, 1);
    for (std::int64_t m = 0; m < 2; ++m) CHECK(same_bits(before.row(m), after.row(m), 40));
  });
}

TEST_CASE("attention refuses scratch memory that is too small") {
  PhiloxStream random(6);
  AttentionProblem problem({DType::kF32, 1, 2, 20}, random);
  problem.add_row(70, random);
  for (const KernelTable* table : kernels::cpu_tables()) CHECK_THROWS(problem.run(*table, 1, /*scratch_bytes=*/64));
}

}  // namespace
}  // namespace minitorch::test
