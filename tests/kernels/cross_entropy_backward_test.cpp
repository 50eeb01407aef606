// cross_entropy_backward: conformance with the reference, rows that do not count, threads, writing over the logits.
#include "kernels/ops/cross_entropy.h"
#include "tests/kernels/rows_support.h"
#include "tests/kernels/table_walk.h"

namespace minitorch::test {
namespace {

using kernels::KernelTable;

struct Problem {
  Problem(std::int64_t rows, std::int64_t cols, float spread, PhiloxStream& random)
      : logits(random_rows(rows, cols, random, cols + 3, 1)), scale(random_floats(rows, random)) {
    scale_rows(logits, spread);
    std::vector<float> loss(static_cast<std::size_t>(rows));
    log_sum.resize(loss.size());
    for (std::int64_t m = 0; m < rows; ++m) {
      const auto target = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(cols)));
      targets.push_back(m % 4 == 3 ? -1 : target);
    }
    kernels::reference_table().cross_entropy({.pool = pool_of(1)}, {.logits = logits.data(),
                                                                    .logits_stride = logits.stride(),
                                                                    .targets = targets.data(),
                                                                    .loss = loss.data(),
                                                                    .log_sum = log_sum.data(),
                                                                    .rows = rows,
                                                                    .cols = cols});
  }

  void run_into(const KernelTable& table, const GuardedRows<float>& from, GuardedRows<float>& to, int threads) const {
    table.cross_entropy_backward({.pool = pool_of(threads)}, {.logits = from.data(),
                                                              .logits_stride = from.stride(),
                                                              .targets = targets.data(),
                                                              .log_sum = log_sum.data(),
                                                              .scale = scale.data(),
                                                              .dlogits = to.data(),
                                                              .dlogits_stride = to.stride(),
                                                              .rows = from.rows(),
                                                              .cols = from.cols()});
  }
  [[nodiscard]] GuardedRows<float> run(const KernelTable& table, int threads = 1) const {
    GuardedRows<float> dlogits(logits.rows(), logits.cols(), logits.cols() + 2, 3);
    run_into(table, logits, dlogits, threads);
    return dlogits;
  }

  GuardedRows<float> logits;
  std::vector<std::int32_t> targets;
  std::vector<float> log_sum;
  std::vector<float> scale;
};

TEST_CASE("cross_entropy_backward conforms to the reference for every width and scale") {
  PhiloxStream random(1);
  for (const std::int64_t cols : kWidths) {
    CAPTURE(cols);
    for (const float spread : {1.0f, 20.0f}) {
      for (const std::int64_t rows : {0, 1, 5}) {
        const Problem problem(rows, cols, spread, random);
        const GuardedRows<float> expected = problem.run(kernels::reference_table());
        on_every_table("cross_entropy_backward", [&](const KernelTable& table) {
          const GuardedRows<float> out = problem.run(table);
          const auto tolerance = [&](std::int64_t m, std::int64_t c) {
            const double at_target = c == problem.targets[m] ? 1e-6 * std::abs(problem.scale[m]) : 0.0;
            return 1e-5 * std::abs(expected.row(m)[c]) + at_target + 1e-37;
          };
          CHECK(count_outside(out, expected, tolerance) == 0);
          CHECK(out.guards_intact());
        });
      }
    }
  }
}

TEST_CASE("cross_entropy_backward gives the same bits for every number of threads and over the logits") {
  PhiloxStream random(2);
  const Problem problem(40, 2048, 5.0f, random);
  on_every_table("cross_entropy_backward", [&](const KernelTable& table) {
    const GuardedRows<float> expected = problem.run(table);
    for (int threads = 2; threads <= 4; ++threads) CHECK(same_rows(problem.run(table, threads), expected));
    GuardedRows<float> logits = copy_of(problem.logits);
    problem.run_into(table, logits, logits, 2);
    CHECK(same_rows(logits, expected));
  });
}

TEST_CASE("cross_entropy_backward sums to zero over a row, and rows that do not count are zero even with a NaN") {
  PhiloxStream random(3);
  Problem problem(4, 300, 3.0f, random);
  problem.logits.row(3)[5] = std::nanf("");
  problem.logits.row(2)[5] = std::nanf("");
  on_every_table("cross_entropy_backward", [&](const KernelTable& table) {
    const GuardedRows<float> out = problem.run(table);
    double sum = 0.0;
    for (std::int64_t c = 0; c < 300; ++c) sum += out.row(0)[c];
    CHECK(std::abs(sum) < 1e-5);
    CHECK(out.row(0)[problem.targets[0]] * problem.scale[0] < 0.0f);
    CHECK(std::isnan(out.row(2)[5]));
    std::int64_t zeros = 0;
    for (std::int64_t c = 0; c < 300; ++c) zeros += out.row(3)[c] == 0.0f ? 1 : 0;
    CHECK(zeros == 300);
  });
}

}  // namespace
}  // namespace minitorch::test
