// What the tests of indexed reads and sums share.
#pragma once

#include <vector>

#include "tests/kernels/rows_support.h"
#include "tests/kernels/table_walk.h"

namespace minitorch::test {

template <typename T>
GuardedRows<T> random_matrix(std::int64_t rows, std::int64_t cols, PhiloxStream& random, std::int64_t shift = 0) {
  GuardedRows<T> result(rows, cols, cols + shift, shift);
  for (std::int64_t m = 0; m < rows; ++m) {
    for (std::int64_t c = 0; c < cols; ++c) result.row(m)[c] = T(random.uniform()) * 2 - 1;
  }
  return result;
}

template <typename Index>
std::vector<Index> random_indices(std::int64_t count, std::int64_t end, PhiloxStream& random) {
  std::vector<Index> indices;
  for (std::int64_t i = 0; i < count; ++i) {
    indices.push_back(static_cast<Index>(random.below(static_cast<std::uint32_t>(end))));
  }
  return indices;
}

// [outer, extent, inner] and the number of picks, for gather and scatter_add.
struct PickShape {
  std::int64_t outer, extent, picks, inner;
};
inline constexpr PickShape kPickShapes[] = {{1, 1, 1, 1},     {1, 5, 0, 1},    {0, 5, 3, 2},   {3, 7, 4, 1},
                                            {2, 3, 5, 17},    {1, 9, 31, 16},  {16, 2, 1, 15}, {5, 64, 7, 33},
                                            {64, 2048, 1, 1}, {1, 100, 400, 3}};

}  // namespace minitorch::test
