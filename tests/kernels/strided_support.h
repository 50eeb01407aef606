// Strided operands of the pointwise and reduction tests: permuted, stepped, broadcast and misaligned layouts.
#pragma once

#include <algorithm>
#include <cmath>  // std::nextafter
#include <limits>
#include <vector>

#include "tests/kernels/support.h"

namespace minitorch::test {

using Shape = std::vector<std::int64_t>;

// How an array lies in memory: whether its first dimension runs fastest, the step of the one that does, and which
// dimensions (bits) have stride 0.
struct Layout {
  bool reversed = false;
  std::int64_t step = 1;
  unsigned broadcast = 0;
};

inline constexpr Layout kPlain{};
inline constexpr Layout kInputLayouts[] = {{},
                                           {.reversed = true},
                                           {.step = 3},
                                           {.broadcast = 1},
                                           {.broadcast = 2},
                                           {.reversed = true, .step = 2, .broadcast = 5},
                                           {.broadcast = ~0u}};
inline constexpr Layout kOutputLayouts[] = {{}, {.reversed = true}, {.step = 2}};

inline Shape strides_of(const Shape& shape, const Layout& layout) {
  Shape strides(shape.size());
  std::int64_t step = layout.step;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t dim = layout.reversed ? i : shape.size() - 1 - i;
    const bool broadcast = (layout.broadcast >> dim & 1u) != 0;
    strides[dim] = broadcast ? 0 : step;
    if (!broadcast) step *= shape[dim];
  }
  return strides;
}

// One array of that shape and layout, an element off the alignment, between guards; elements start as zero bytes.
template <typename T>
struct Strided {
  Strided(const Shape& shape, const Layout& layout)
      : strides(strides_of(shape, layout)), memory(1, extent(shape, strides), 0, 1) {
    std::fill_n(memory.data(), memory.cols(), T{});
  }
  static std::int64_t extent(const Shape& shape, const Shape& strides) {
    std::int64_t last = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] == 0) return 0;
      last += (shape[i] - 1) * strides[i];
    }
    return last + 1;
  }
  [[nodiscard]] T* data() { return memory.data(); }
  [[nodiscard]] const T* data() const { return memory.data(); }
  [[nodiscard]] std::int64_t size() const { return memory.cols(); }

  Shape strides;
  GuardedRows<T> memory;
};

inline void set_dims(std::int64_t (&target)[8], const Shape& values) {
  std::copy(values.begin(), values.end(), target);
}

// Shapes of 0 to 5 dimensions with sizes around the 16 lanes.
inline const std::vector<Shape>& small_shapes() {
  static const std::vector<Shape> shapes{
      {},      {0},     {1},     {15},       {16},       {17},         {1009},           {3, 5},   {5, 0},
      {7, 33}, {17, 1}, {1, 17}, {2, 3, 16}, {4, 1, 31}, {3, 4, 5, 6}, {2, 1, 3, 2, 35}, {600, 2}, {2, 1100}};
  return shapes;
}

// Values where functions have their corners, between random ones of three magnitudes.
template <typename T>
void fill_special(T* values, std::int64_t count, PhiloxStream& random) {
  using Limits = std::numeric_limits<T>;
  const T corners[] = {T(0),
                       -T(0),
                       T(1),
                       T(-1),
                       T(0.625),
                       T(-0.92),
                       T(0.5),
                       T(2),
                       T(88.5),
                       T(-88.5),
                       T(-103.5),
                       T(-110),
                       T(110),
                       T(5.5),
                       T(-5.5),
                       Limits::infinity(),
                       -Limits::infinity(),
                       Limits::quiet_NaN(),
                       Limits::max(),
                       Limits::lowest(),
                       Limits::min(),
                       Limits::denorm_min()};
  constexpr std::int64_t kCorners = std::ssize(corners);
  const T scales[] = {T(1), T(10), T(100)};
  for (std::int64_t i = 0; i < count; ++i) {
    const T uniform = T(random.uniform()) * 2 - 1;
    values[i] = i % 3 == 1 ? corners[random.below(kCorners)] : uniform * scales[i % 7 % 3];
  }
}

// The distance from |x| to the next larger number of its type.
template <typename T>
double unit_in_last_place(T x) {
  if (!std::isfinite(x)) return 0.0;
  const T size = std::min(std::abs(x), std::nextafter(std::numeric_limits<T>::max(), T(0)));
  return static_cast<double>(std::nextafter(size, std::numeric_limits<T>::infinity())) - static_cast<double>(size);
}

// The same number (of either sign if 0), or both NaN.
template <typename T>
bool same_number(T a, T b) {
  return a == b || (a != a && b != b);
}

template <typename T>
std::int64_t count_differing(const Strided<T>& a, const Strided<T>& b) {
  std::int64_t differing = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) differing += same_number(a.data()[i], b.data()[i]) ? 0 : 1;
  return differing;
}

}  // namespace minitorch::test
