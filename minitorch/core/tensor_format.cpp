// Tensors as text.
#include <fmt/format.h>

#include <string>

#include "minitorch/core/tensor.h"

namespace minitorch {
namespace {

// Tensors of more elements show the first and last kEdge entries of every long dimension only.
constexpr std::int64_t kMaxShown = 256;
constexpr std::int64_t kEdge = 3;

template <typename T>
T load(const void* base, std::int64_t index) {
  return static_cast<const T*>(base)[index];
}

std::string format_element(DType dtype, const void* base, std::int64_t index) {
  switch (dtype) {
    case DType::kF32: return fmt::format("{}", load<float>(base, index));
    case DType::kF64: return fmt::format("{}", load<double>(base, index));
    case DType::kBF16: return fmt::format("{}", to_float(load<BFloat16>(base, index)));
    case DType::kF16: return fmt::format("{}", to_float(load<Float16>(base, index)));
    case DType::kI32: return fmt::format("{}", load<std::int32_t>(base, index));
    case DType::kI64: return fmt::format("{}", load<std::int64_t>(base, index));
    case DType::kU8: return fmt::format("{}", load<std::uint8_t>(base, index));
    case DType::kBool: return fmt::format("{}", load<bool>(base, index));
  }
  return "?";
}

// Appends the part of `tensor` from `dim` on whose first element has index `index`.
void append_part(std::string& text, const Tensor& tensor, int dim, std::int64_t index) {
  if (dim == tensor.dims()) {
    text += format_element(tensor.dtype(), tensor.raw_data(), index);
    return;
  }
  const std::int64_t size = tensor.shape()[dim];
  const bool shortened = tensor.numel() > kMaxShown && size > 2 * kEdge;
  text += '[';
  for (std::int64_t i = 0; i < size; ++i) {
    if (i > 0) text += ", ";
    if (shortened && i == kEdge) {
      text += "..., ";
      i = size - kEdge;
    }
    append_part(text, tensor, dim + 1, index + i * tensor.strides()[dim]);
  }
  text += ']';
}

}  // namespace

std::string to_string(const Tensor& tensor) {
  if (!tensor.defined()) return "tensor(undefined)";
  std::string text = "tensor(";
  append_part(text, tensor, 0, 0);
  return text + fmt::format(", {})", name_of(tensor.dtype()));
}

}  // namespace minitorch
