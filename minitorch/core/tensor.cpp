// Tensor: reference counting, creation and element access.
#include "minitorch/core/tensor.h"

#include <cstring>  // std::memset, std::memcpy

#include "minitorch/base/check.h"
#include "minitorch/core/tensor_impl.h"

namespace minitorch {
namespace {

const TensorImpl& checked(const TensorImpl* impl) {
  MT_CHECK(impl != nullptr, "tensor: expected a defined tensor, got an undefined one");
  return *impl;
}

}  // namespace

Tensor::Tensor(const Tensor& other) noexcept : impl_(other.impl_) {
  if (impl_ != nullptr) add_reference(impl_);
}

Tensor& Tensor::operator=(const Tensor& other) noexcept {
  Tensor copy(other);
  std::swap(impl_, copy.impl_);
  return *this;
}

Tensor& Tensor::operator=(Tensor&& other) noexcept {
  Tensor taken(std::move(other));
  std::swap(impl_, taken.impl_);
  return *this;
}

Tensor::~Tensor() {
  if (impl_ != nullptr) drop_reference(impl_);
}

Tensor Tensor::empty(const Shape& shape, DType dtype) { return Tensor(make_tensor_impl(shape, dtype)); }

Tensor Tensor::zeros(const Shape& shape, DType dtype) {
  Tensor result = empty(shape, dtype);
  std::memset(result.raw_data(), 0, static_cast<std::size_t>(result.numel()) * size_of(dtype));
  return result;
}

Tensor Tensor::full(const Shape& shape, double value, DType dtype) {
  Tensor result = empty(shape, dtype);
  result.copy_(from(std::span<const double>(&value, 1), {}));
  return result;
}

Tensor Tensor::arange(std::int64_t count, DType dtype) {
  MT_CHECK_AS(ShapeError, count >= 0, "arange: expected a count of at least 0, got {}", count);
  const Tensor numbers = empty({count}, DType::kI64);
  for (std::int64_t i = 0; i < count; ++i) numbers.data<std::int64_t>()[i] = i;
  return numbers.to(dtype);
}

template <typename T>
Tensor Tensor::from(std::span<const T> values, const Shape& shape) {
  MT_CHECK_AS(ShapeError, shape.numel() == static_cast<std::int64_t>(values.size()),
              "from: expected {} values for {}, got {}", shape.numel(), to_string(shape), values.size());
  Tensor result = empty(shape, dtype_of<T>);
  if (!values.empty()) std::memcpy(result.raw_data(), values.data(), values.size_bytes());
  return result;
}

const Shape& Tensor::shape() const { return checked(impl_).shape; }
const Shape& Tensor::strides() const { return checked(impl_).strides; }
std::int64_t Tensor::storage_offset() const { return checked(impl_).offset; }
DType Tensor::dtype() const { return checked(impl_).dtype; }
std::int64_t Tensor::numel() const { return checked(impl_).numel; }

std::int64_t Tensor::size(int dim) const { return shape()[normalize_dim("size", dim, dims())]; }

bool Tensor::is_contiguous() const {
  if (numel() == 0) return true;
  std::int64_t expected = 1;
  for (int dim = dims() - 1; dim >= 0; --dim) {
    if (shape()[dim] == 1) continue;  // its stride is never used
    if (strides()[dim] != expected) return false;
    expected *= shape()[dim];
  }
  return true;
}

bool Tensor::shares_storage_with(const Tensor& other) const {
  return checked(impl_).storage == checked(other.impl_).storage;
}

void* Tensor::raw_data() const {
  const TensorImpl& impl = checked(impl_);
  return impl.storage->data + impl.offset * static_cast<std::int64_t>(size_of(impl.dtype));
}

template <typename T>
T* Tensor::data() const {
  MT_CHECK_AS(DTypeError, dtype() == dtype_of<T>, "data: expected dtype {}, got {}", name_of(dtype_of<T>),
              name_of(dtype()));
  return static_cast<T*>(raw_data());
}

double Tensor::item() const {
  MT_CHECK_AS(ShapeError, numel() == 1, "item: expected one element, got {}", to_string(shape()));
  return to_vector().front();
}

std::vector<double> Tensor::to_vector() const {
  const Tensor converted = to(DType::kF64).contiguous();
  const auto* const first = converted.data<double>();
  return {first, first + converted.numel()};
}

#define MT_INSTANTIATE(T)                                            \
  template Tensor Tensor::from<T>(std::span<const T>, const Shape&); \
  template T* Tensor::data<T>() const;
MT_INSTANTIATE(float)
MT_INSTANTIATE(double)
MT_INSTANTIATE(BFloat16)
MT_INSTANTIATE(Float16)
MT_INSTANTIATE(std::int32_t)
MT_INSTANTIATE(std::int64_t)
MT_INSTANTIATE(std::uint8_t)
MT_INSTANTIATE(bool)
#undef MT_INSTANTIATE

}  // namespace minitorch
