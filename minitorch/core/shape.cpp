// Shape arithmetic: extents, strides and broadcasting.
#include "minitorch/core/shape.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>  // fmt::join, from fmt 11 on

#include "minitorch/base/check.h"

namespace minitorch {

Shape::Shape(std::initializer_list<std::int64_t> sizes) : Shape(std::span(sizes.begin(), sizes.size())) {}

Shape::Shape(std::span<const std::int64_t> sizes) {
  MT_CHECK_AS(ShapeError, sizes.size() <= kMaxDims, "shape: expected at most {} dimensions, got {}", kMaxDims,
              sizes.size());
  std::copy(sizes.begin(), sizes.end(), sizes_.begin());
  dims_ = static_cast<int>(sizes.size());
}

void Shape::push_back(std::int64_t size) { insert(dims_, size); }

void Shape::insert(int dim, std::int64_t size) {
  MT_CHECK_AS(ShapeError, dims_ < kMaxDims, "shape: expected at most {} dimensions, got one more than {}", kMaxDims,
              to_string(*this));
  MT_CHECK_AS(ShapeError, dim >= 0 && dim <= dims_, "shape: cannot insert dimension {} into {}", dim, to_string(*this));
  std::copy_backward(sizes_.begin() + dim, sizes_.begin() + dims_, sizes_.begin() + dims_ + 1);
  sizes_[static_cast<std::size_t>(dim)] = size;
  ++dims_;
}

void Shape::erase(int dim) {
  MT_CHECK_AS(ShapeError, dim >= 0 && dim < dims_, "shape: cannot erase dimension {} of {}", dim, to_string(*this));
  std::copy(sizes_.begin() + dim + 1, sizes_.begin() + dims_, sizes_.begin() + dim);
  --dims_;
}

std::int64_t Shape::numel() const {
  std::int64_t product = 1;
  bool empty = false;
  for (const std::int64_t size : *this) {
    MT_CHECK_AS(ShapeError, size >= 0, "shape: expected extents of at least 0, got {}", to_string(*this));
    // Zeros are left out of the product: strides of an empty tensor must not overflow either.
    const bool overflow = __builtin_mul_overflow(product, std::max<std::int64_t>(size, 1), &product);
    MT_CHECK_AS(ShapeError, !overflow, "shape: {} has more elements than 2^63", to_string(*this));
    empty = empty || size == 0;
  }
  return empty ? 0 : product;
}

bool operator==(const Shape& a, const Shape& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape.begin(), shape.end(), ", ")); }

Shape contiguous_strides(const Shape& shape) {
  Shape strides = shape;
  std::int64_t stride = 1;
  for (int dim = shape.dims() - 1; dim >= 0; --dim) {
    strides[dim] = stride;
    stride *= std::max<std::int64_t>(shape[dim], 1);
  }
  return strides;
}

Shape broadcast_shapes(std::string_view op, const Shape& a, const Shape& b) {
  const Shape& longer = a.dims() >= b.dims() ? a : b;
  const Shape& shorter = a.dims() >= b.dims() ? b : a;
  const int lead = longer.dims() - shorter.dims();
  Shape result = longer;
  for (int dim = 0; dim < shorter.dims(); ++dim) {
    const std::int64_t size = shorter[dim];
    std::int64_t& common = result[lead + dim];
    MT_CHECK_AS(ShapeError, size == common || size == 1 || common == 1,
                "{}: expected shapes that broadcast, got {} and {}", op, to_string(a), to_string(b));
    if (common == 1) common = size;
  }
  return result;
}

int normalize_dim(std::string_view op, int dim, int dims) {
  MT_CHECK_AS(ShapeError, dim >= -dims && dim < dims, "{}: expected a dimension in [{}, {}), got {}", op, -dims, dims,
              dim);
  return dim < 0 ? dim + dims : dim;
}

}  // namespace minitorch
