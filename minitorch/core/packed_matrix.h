// PackedMatrix: inference weights in the panel layout of kernels/packed_matrix.h. Not a tensor and not a dtype.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "kernels/packed_matrix.h"
#include "minitorch/base/memory.h"
#include "minitorch/core/tensor.h"

namespace minitorch {

// Weight matrix [rows = outputs, cols = inputs], immutable once filled; copies share the panels.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  // Zeroed panels in a buffer of their own.
  PackedMatrix(kernels::PackedFormat format, std::int64_t rows, std::int64_t cols);
  // Panels inside memory owned elsewhere (a weight arena): `memory` must be zeroed, 64-byte aligned and packed_bytes
  // long.
  PackedMatrix(kernels::PackedFormat format, std::int64_t rows, std::int64_t cols, std::shared_ptr<Buffer> owner,
               std::byte* memory);

  [[nodiscard]] bool defined() const { return view_.panels != nullptr; }
  [[nodiscard]] std::int64_t rows() const { return view_.rows; }
  [[nodiscard]] std::int64_t cols() const { return view_.cols; }
  [[nodiscard]] kernels::PackedFormat format() const { return view_.format; }
  [[nodiscard]] std::int64_t bytes() const { return kernels::packed_bytes(view_.format, view_.rows, view_.cols); }
  [[nodiscard]] const kernels::PackedView& view() const { return view_; }

 private:
  kernels::PackedView view_;
  std::shared_ptr<Buffer> owner_;
};

// Packs a matrix [N, K] of dtype f32, f16 or bf16. Throws ShapeError / DTypeError.
[[nodiscard]] PackedMatrix pack(const Tensor& matrix, kernels::PackedFormat format);

}  // namespace minitorch
