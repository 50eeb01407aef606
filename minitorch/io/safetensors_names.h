// What reader and writer of safetensors files share: the names of the format.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "minitorch/base/dtype.h"

namespace minitorch::io {

inline constexpr std::string_view kMetadataKey = "__metadata__";

inline constexpr std::array<std::pair<std::string_view, DType>, 8> kSafetensorsDTypes{{
    {"F32", DType::kF32},
    {"F64", DType::kF64},
    {"BF16", DType::kBF16},
    {"F16", DType::kF16},
    {"I32", DType::kI32},
    {"I64", DType::kI64},
    {"U8", DType::kU8},
    {"BOOL", DType::kBool},
}};

}  // namespace minitorch::io
