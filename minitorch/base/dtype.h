// Element types and their sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "minitorch/base/float16.h"

namespace minitorch {

enum class DType : std::uint8_t { kF32, kF64, kBF16, kF16, kI32, kI64, kU8, kBool };

// Bytes of one element.
constexpr std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::kF64:
    case DType::kI64: return 8;
    case DType::kF32:
    case DType::kI32: return 4;
    case DType::kBF16:
    case DType::kF16: return 2;
    case DType::kU8:
    case DType::kBool: return 1;
  }
  return 0;
}

// Short lower-case name: "f32", "bf16", ...
constexpr std::string_view name_of(DType dtype) {
  switch (dtype) {
    case DType::kF32: return "f32";
    case DType::kF64: return "f64";
    case DType::kBF16: return "bf16";
    case DType::kF16: return "f16";
    case DType::kI32: return "i32";
    case DType::kI64: return "i64";
    case DType::kU8: return "u8";
    case DType::kBool: return "bool";
  }
  return "?";
}

// The DType of a C++ element type: dtype_of<float> == DType::kF32.
template <typename T>
inline constexpr DType dtype_of = [] {
  static_assert(sizeof(T) == 0, "no DType for this C++ type");
  return DType::kF32;
}();
template <>
inline constexpr DType dtype_of<float> = DType::kF32;
template <>
inline constexpr DType dtype_of<double> = DType::kF64;
template <>
inline constexpr DType dtype_of<BFloat16> = DType::kBF16;
template <>
inline constexpr DType dtype_of<Float16> = DType::kF16;
template <>
inline constexpr DType dtype_of<std::int32_t> = DType::kI32;
template <>
inline constexpr DType dtype_of<std::int64_t> = DType::kI64;
template <>
inline constexpr DType dtype_of<std::uint8_t> = DType::kU8;
template <>
inline constexpr DType dtype_of<bool> = DType::kBool;

}  // namespace minitorch
