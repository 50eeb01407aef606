// gather_rows: exact on every table.
#include <doctest/doctest.h>

#include "tests/kernels/linear_support.h"
#include "tests/kernels/support.h"
#include "tests/kernels/table_walk.h"

namespace minitorch::test {
namespace {

using kernels::KernelTable;
using kernels::PackedFormat;

// Row `row` of the values as the format holds it.
std::vector<float> held(PackedFormat format, const std::vector<float>& values, std::int64_t row, std::int64_t cols) {
  std::vector<float> result(values.begin() + row * cols, values.begin() + (row + 1) * cols);
  if (format == PackedFormat::kInt8) return quantised_weights(result.data(), cols);
  if (format == PackedFormat::kInt4) return int4_weights(result.data(), cols);
  if (format == PackedFormat::kBF16) {
    for (float& value : result) value = to_float(to_bfloat16(value));
  }
  return result;
}

TEST_CASE("gather_rows returns the rows that were packed, widened exactly") {
  for (const PackedFormat format :
       {PackedFormat::kF32, PackedFormat::kBF16, PackedFormat::kInt8, PackedFormat::kInt4}) {
    for (const std::int64_t cols : {1, 2, 3, 16, 17, 31, 32, 33, 64, 171, 1536}) {
      for (const std::int64_t count : {0, 1, 7, 40}) {
        CAPTURE(cols);
        CAPTURE(count);
        constexpr std::int64_t kRows = 37;
        PhiloxStream random(static_cast<std::uint64_t>(cols));
        std::vector<float> values = random_floats(kRows * cols, random);
        const TestMatrix matrix(format, kRows, cols, values);
        std::vector<std::int32_t> ids;
        for (std::int64_t i = 0; i < count; ++i) ids.push_back(static_cast<std::int32_t>((i * 23 + 36) % kRows));
        on_every_table("gather_rows", [&](const KernelTable& table) {
          GuardedRows<float> out(count, cols, cols + 1, 1);
          table.gather_rows(
              {.pool = pool_of(3)},
              {.table = matrix.view, .ids = ids.data(), .rows = count, .out = out.data(), .out_stride = out.stride()});
          std::int64_t wrong = 0;
          for (std::int64_t i = 0; i < count; ++i) {
            const std::vector<float> expected = held(format, values, ids[i], cols);
            for (std::int64_t c = 0; c < cols; ++c) wrong += out.row(i)[c] == expected[c] ? 0 : 1;
          }
          CHECK(wrong == 0);
          CHECK(out.guards_intact());
        });
      }
    }
  }
}

}  // namespace
}  // namespace minitorch::test
