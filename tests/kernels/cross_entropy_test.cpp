// cross_entropy: conformance with the reference, rows that do not count, special values, threads.
#include "kernels/ops/cross_entropy.h"

#include <limits>

#include "tests/kernels/rows_support.h"
#include "tests/kernels/table_walk.h"

namespace minitorch::test {
namespace {

using kernels::KernelTable;

struct Losses {
  GuardedRows<float> loss;
  GuardedRows<float> log_sum;
};

Losses run(const KernelTable& table, const GuardedRows<float>& logits, const std::vector<std::int32_t>& targets,
           int threads = 1) {
  Losses out{{1, logits.rows()}, {1, logits.rows()}};
  table.cross_entropy({.pool = pool_of(threads)}, {.logits = logits.data(),
                                                   .logits_stride = logits.stride(),
                                                   .targets = targets.data(),
                                                   .loss = out.loss.data(),
                                                   .log_sum = out.log_sum.data(),
                                                   .rows = logits.rows(),
                                                   .cols = logits.cols()});
  return out;
}

// Every third row does not count.
std::vector<std::int32_t> random_targets(std::int64_t rows, std::int64_t cols, PhiloxStream& random) {
  std::vector<std::int32_t> targets;
  for (std::int64_t m = 0; m < rows; ++m) {
    const auto target = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(cols)));
    targets.push_back(m % 3 == 2 ? -1 : target);
  }
  return targets;
}

void check(const GuardedRows<float>& logits, const std::vector<std::int32_t>& targets, int threads) {
  CAPTURE(logits.cols());
  const Losses expected = run(kernels::reference_table(), logits, targets);
  on_every_table("cross_entropy", [&](const KernelTable& table) {
    const Losses out = run(table, logits, targets, threads);
    const auto tolerance = [&](std::int64_t, std::int64_t m) {
      const float* row = logits.row(m);
      const float most = *std::max_element(row, row + logits.cols());
      return 4e-6 * std::max(1.0, targets[m] < 0 ? 0.0 : std::abs(static_cast<double>(most) - row[targets[m]]));
    };
    CHECK(count_outside(out.loss, expected.loss, tolerance) == 0);
    CHECK(count_outside(out.log_sum, expected.log_sum, [&](std::int64_t, std::int64_t m) {
            return 4e-6 * std::max(1.0f, std::abs(expected.log_sum.data()[m]));
          }) == 0);
    CHECK(out.loss.guards_intact());
    CHECK(out.log_sum.guards_intact());
  });
}

TEST_CASE("cross_entropy conforms to the reference for every width and scale") {
  PhiloxStream random(1);
  for (const std::int64_t cols : kWidths) {
    for (const float scale : {1.0f, 20.0f}) {
      for (const std::int64_t rows : {0, 1, 6}) {
        GuardedRows<float> logits = random_rows(rows, cols, random, cols + rows, 1);
        scale_rows(logits, scale);
        check(logits, random_targets(rows, cols, random), 1);
      }
    }
  }
}

TEST_CASE("cross_entropy gives the same bits for every number of threads") {
  PhiloxStream random(2);
  const GuardedRows<float> logits = random_rows(50, 2048, random);
  const auto targets = random_targets(50, 2048, random);
  on_every_table("cross_entropy", [&](const KernelTable& table) {
    const Losses expected = run(table, logits, targets);
    for (int threads = 2; threads <= 4; ++threads) {
      const Losses out = run(table, logits, targets, threads);
      CHECK(same_rows(out.loss, expected.loss));
      CHECK(same_rows(out.log_sum, expected.log_sum));
    }
  });
}

TEST_CASE("cross_entropy of equal logits is ln V, of one far above 0, and NaN where a logit is") {
  on_every_table("cross_entropy", [&](const KernelTable& table) {
    GuardedRows<float> logits(5, 100);
    for (std::int64_t m = 0; m < 5; ++m) std::fill_n(logits.row(m), 100, -2.0f);
    logits.row(1)[99] = 1000.0f;
    logits.row(2)[99] = 1000.0f;
    logits.row(3)[50] = std::nanf("");
    std::fill_n(logits.row(4), 99, -std::numeric_limits<float>::infinity());  // all but the target are masked
    const Losses out = run(table, logits, {7, 99, 0, 0, 99});
    CHECK(out.loss.data()[0] == doctest::Approx(std::log(100.0)));
    CHECK(out.loss.data()[1] == 0.0f);
    CHECK(out.loss.data()[2] == doctest::Approx(1002.0));
    CHECK(std::isnan(out.loss.data()[3]));
    CHECK(out.loss.data()[4] == 0.0f);
    CHECK(out.log_sum.data()[1] == 1000.0f);
    CHECK(run(table, logits, {-1, -100, -1, -1, -1}).loss.data()[1] == 0.0f);
  });
}

}  // namespace
}  // namespace minitorch::test
