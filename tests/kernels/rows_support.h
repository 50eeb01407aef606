// Comparison of matrices in the tests of kernels that work row by row.
#pragma once

#include <algorithm>

#include "tests/kernels/support.h"
#include "tests/support/emulation.h"

namespace minitorch::test {

// Around the 16 lanes, primes, and the widths of the embedded models; in emulation not the large ones.
inline const std::vector<std::int64_t> kWidths =
    emulated() ? std::vector<std::int64_t>{1, 2, 15, 16, 17, 31, 32, 33, 127}
               : std::vector<std::int64_t>{1, 2, 15, 16, 17, 31, 32, 33, 127, 256, 704, 1009, 2048};

// Elements of `got` further than tolerance(m, c) from `expected`.
template <typename Tolerance>
std::int64_t count_outside(const GuardedRows<float>& got, const GuardedRows<float>& expected,
                           const Tolerance& tolerance) {
  std::int64_t outside = 0;
  for (std::int64_t m = 0; m < got.rows(); ++m) {
    for (std::int64_t c = 0; c < got.cols(); ++c) {
      outside += near(got.row(m)[c], expected.row(m)[c], tolerance(m, c)) ? 0 : 1;
    }
  }
  return outside;
}

inline double largest_magnitude(const GuardedRows<float>& x) {
  float largest = 0.0f;
  for (std::int64_t m = 0; m < x.rows(); ++m) {
    for (std::int64_t c = 0; c < x.cols(); ++c) largest = std::max(largest, std::abs(x.row(m)[c]));
  }
  return largest;
}

// All elements bit for bit; the strides may differ.
template <typename T>
bool same_rows(const GuardedRows<T>& a, const GuardedRows<T>& b) {
  bool same = a.rows() == b.rows() && a.cols() == b.cols();
  for (std::int64_t m = 0; same && m < a.rows(); ++m) same = same_bits(a.row(m), b.row(m), a.cols());
  return same;
}

template <typename T>
GuardedRows<T> copy_of(const GuardedRows<T>& x, std::int64_t stride = 0, std::int64_t shift = 0) {
  GuardedRows<T> copy(x.rows(), x.cols(), stride, shift);
  for (std::int64_t m = 0; m < x.rows(); ++m) std::copy_n(x.row(m), x.cols(), copy.row(m));
  return copy;
}

inline void scale_rows(GuardedRows<float>& x, float factor, float offset = 0.0f) {
  for (std::int64_t m = 0; m < x.rows(); ++m) {
    for (std::int64_t c = 0; c < x.cols(); ++c) x.row(m)[c] = x.row(m)[c] * factor + offset;
  }
}

}  // namespace minitorch::test
