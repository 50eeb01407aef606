// Memory and data of the kernel tests: rows between guard bytes, random values, packed matrices, thread pools.
#pragma once

#include <doctest/doctest.h>

#include <cmath>    // std::isnan
#include <cstring>  // std::memcmp, std::memset
#include <memory>
#include <utility>  // std::move
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#include "kernels/packed_matrix.h"
#include "minitorch/base/dtype.h"
#include "minitorch/base/memory.h"
#include "minitorch/base/philox.h"
#include "minitorch/base/thread_pool.h"

namespace minitorch::test {

// Rows of T with a stride, at any alignment, between guard bytes. Guards and the gaps between rows hold a pattern,
// which shows writes; AddressSanitizer is told of them as well, which shows reads.
template <typename T>
class GuardedRows {
 public:
  // `shift` elements move the first row off the alignment of the buffer. A stride of 0 stands for `cols`.
  GuardedRows(std::int64_t rows, std::int64_t cols, std::int64_t stride = 0, std::int64_t shift = 0)
      : rows_(rows), cols_(cols), stride_(stride == 0 ? cols : stride), begin_(kGuard / kSize + shift) {
    const std::int64_t elements = rows > 0 ? (rows - 1) * stride_ + cols : 0;
    bytes_ = Buffer(static_cast<std::size_t>((begin_ + elements) * kSize + kGuard));
    std::memset(bytes_.data(), kPattern, bytes_.size());
    for_each_gap([](const std::byte* begin, std::int64_t size) { forbid(begin, size); });
  }
  ~GuardedRows() { allow(bytes_.data(), static_cast<std::int64_t>(bytes_.size())); }
  GuardedRows(GuardedRows&&) noexcept = default;
  GuardedRows& operator=(GuardedRows&& other) noexcept {
    allow(bytes_.data(), static_cast<std::int64_t>(bytes_.size()));
    rows_ = other.rows_;
    cols_ = other.cols_;
    stride_ = other.stride_;
    begin_ = other.begin_;
    bytes_ = std::move(other.bytes_);
    return *this;
  }

  [[nodiscard]] T* data() { return reinterpret_cast<T*>(bytes_.data()) + begin_; }
  [[nodiscard]] const T* data() const { return reinterpret_cast<const T*>(bytes_.data()) + begin_; }
  [[nodiscard]] T* row(std::int64_t i) { return data() + i * stride_; }
  [[nodiscard]] const T* row(std::int64_t i) const { return data() + i * stride_; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t cols() const { return cols_; }
  [[nodiscard]] std::int64_t stride() const { return stride_; }

  // True when nothing was written outside the rows. Afterwards reading there is allowed.
  [[nodiscard]] bool guards_intact() const {
    allow(bytes_.data(), static_cast<std::int64_t>(bytes_.size()));
    bool intact = true;
    for_each_gap([&intact](const std::byte* begin, std::int64_t size) {
      for (std::int64_t b = 0; b < size; ++b) intact = intact && begin[b] == static_cast<std::byte>(kPattern);
    });
    return intact;
  }

 private:
  static constexpr std::int64_t kGuard = 128;  // bytes: twice the widest vector
  static constexpr std::int64_t kSize = sizeof(T);
  static constexpr unsigned char kPattern = 0xA5;

  // Calls visit(begin, bytes) for the guards and for every gap between rows.
  template <typename Visit>
  void for_each_gap(const Visit& visit) const {
    std::int64_t checked = 0;
    for (std::int64_t i = 0; i < rows_; ++i) {
      const std::int64_t row_begin = (begin_ + i * stride_) * kSize;
      visit(bytes_.data() + checked, row_begin - checked);
      checked = row_begin + cols_ * kSize;
    }
    visit(bytes_.data() + checked, static_cast<std::int64_t>(bytes_.size()) - checked);
  }
#if defined(__SANITIZE_ADDRESS__)
  static void forbid(const std::byte* begin, std::int64_t size) {
    __asan_poison_memory_region(begin, static_cast<std::size_t>(size));
  }
  static void allow(const std::byte* begin, std::int64_t size) {
    __asan_unpoison_memory_region(begin, static_cast<std::size_t>(size));
  }
#else
  static void forbid(const std::byte*, std::int64_t) {}
  static void allow(const std::byte*, std::int64_t) {}
#endif

  std::int64_t rows_, cols_, stride_, begin_;
  Buffer bytes_;
};

// Uniform in [-1, 1).
inline void fill_random(float* values, std::int64_t count, PhiloxStream& random) {
  for (std::int64_t i = 0; i < count; ++i) values[i] = random.uniform() * 2.0f - 1.0f;
}

inline std::vector<float> random_floats(std::int64_t count, PhiloxStream& random) {
  std::vector<float> values(static_cast<std::size_t>(count));
  fill_random(values.data(), count, random);
  return values;
}

inline GuardedRows<float> random_rows(std::int64_t rows, std::int64_t cols, PhiloxStream& random,
                                      std::int64_t stride = 0, std::int64_t shift = 0) {
  GuardedRows<float> result(rows, cols, stride, shift);
  for (std::int64_t i = 0; i < rows; ++i) fill_random(result.row(i), cols, random);
  return result;
}

template <typename T>
bool same_bits(const T* a, const T* b, std::int64_t count) {
  return count == 0 || std::memcmp(a, b, static_cast<std::size_t>(count) * sizeof(T)) == 0;
}

// Both NaN, or both not and within `tolerance` (infinities equal each other only).
inline bool near(float a, float b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(static_cast<double>(a) - static_cast<double>(b)) <= tolerance;
}

// A pool of 1 to 4 threads, made once.
inline ThreadPool& pool_of(int threads) {
  static std::unique_ptr<ThreadPool> pools[5];
  auto& pool = pools[threads];
  if (pool == nullptr) pool = std::make_unique<ThreadPool>(threads);
  return *pool;
}

// A packed matrix and the memory it lies in.
struct TestMatrix {
  TestMatrix(kernels::PackedFormat format, std::int64_t rows, std::int64_t cols, const std::vector<float>& row_major)
      : memory(static_cast<std::size_t>(kernels::packed_bytes(format, rows, cols))),
        view{format, rows, cols, memory.data()} {
    kernels::pack_rows(view, 0, rows, row_major.data(), DType::kF32);
  }
  TestMatrix(kernels::PackedFormat format, std::int64_t rows, std::int64_t cols, PhiloxStream& random)
      : TestMatrix(format, rows, cols, random_floats(rows * cols, random)) {}

  Buffer memory;
  kernels::PackedView view;
};

}  // namespace minitorch::test
