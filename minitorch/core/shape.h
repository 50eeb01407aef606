// Shapes and strides: small inline arrays of up to 8 dimensions.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace minitorch {

inline constexpr int kMaxDims = 8;

// Up to kMaxDims extents or strides, without heap memory.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> sizes);     // throws ShapeError above kMaxDims
  explicit Shape(std::span<const std::int64_t> sizes);  // likewise

  [[nodiscard]] int dims() const { return dims_; }
  [[nodiscard]] std::int64_t operator[](int dim) const { return sizes_[static_cast<std::size_t>(dim)]; }
  [[nodiscard]] std::int64_t& operator[](int dim) { return sizes_[static_cast<std::size_t>(dim)]; }
  [[nodiscard]] const std::int64_t* begin() const { return sizes_.data(); }
  [[nodiscard]] const std::int64_t* end() const { return sizes_.data() + dims_; }
  void push_back(std::int64_t size);  // throws ShapeError above kMaxDims
  void insert(int dim, std::int64_t size);
  void erase(int dim);

  // Product of the extents; 1 for a scalar. Throws ShapeError on a negative extent or overflow.
  [[nodiscard]] std::int64_t numel() const;

  friend bool operator==(const Shape& a, const Shape& b);

 private:
  std::array<std::int64_t, kMaxDims> sizes_{};
  int dims_ = 0;
};

// "[2, 3]".
[[nodiscard]] std::string to_string(const Shape& shape);

// Row-major strides in elements.
[[nodiscard]] Shape contiguous_strides(const Shape& shape);

// The common shape under NumPy's broadcasting rules. Throws ShapeError when there is none; `op` begins the message.
[[nodiscard]] Shape broadcast_shapes(std::string_view op, const Shape& a, const Shape& b);

// Maps -dims..dims-1 to 0..dims-1; throws ShapeError otherwise. `op` begins the message.
[[nodiscard]] int normalize_dim(std::string_view op, int dim, int dims);

}  // namespace minitorch
