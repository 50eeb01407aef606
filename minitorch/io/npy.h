// NumPy .npy files, format version 1.0 (versions 2.0 and 3.0 are read too), C order.
#pragma once

#include <filesystem>

#include "minitorch/core/tensor.h"

namespace minitorch::io {

// Writes f32, f64, f16, i32, i64, u8 or bool; bf16 is widened to f32, which NumPy can hold. The file appears only when
// complete.
void write_npy(const std::filesystem::path& path, const Tensor& tensor);

// Reads little-endian C-order files of the types above. Throws IoError that names the file.
[[nodiscard]] Tensor read_npy(const std::filesystem::path& path);

}  // namespace minitorch::io
