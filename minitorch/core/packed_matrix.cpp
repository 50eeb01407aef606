// PackedMatrix: ownership of panels, and packing a tensor on all threads.
#include "minitorch/core/packed_matrix.h"

#include <algorithm>
#include <utility>

#include "minitorch/base/check.h"
#include "minitorch/core/execution_scope.h"

namespace minitorch {
namespace {

void check_extents(std::int64_t rows, std::int64_t cols) {
  MT_CHECK_AS(ShapeError, rows >= 0 && cols >= 0, "packed matrix: expected rows and cols of at least 0, got [{}, {}]",
              rows, cols);
  // Padded to whole panels and pairs the elements must still be countable, in bytes too.
  constexpr std::int64_t kLargest = std::int64_t{1} << 60;
  const bool fits =
      rows <= kLargest && cols <= kLargest && (cols == 0 || rows + kernels::kPanelWidth <= kLargest / (cols + 1));
  MT_CHECK_AS(ShapeError, fits, "packed matrix: [{}, {}] is too large", rows, cols);
}

}  // namespace

PackedMatrix::PackedMatrix(kernels::PackedFormat format, std::int64_t rows, std::int64_t cols)
    : view_{.format = format, .rows = rows, .cols = cols} {
  check_extents(rows, cols);
  const std::int64_t size = std::max<std::int64_t>(bytes(), kBufferAlignment);  // an empty matrix is defined too
  owner_ = std::make_shared<Buffer>(static_cast<std::size_t>(size));
  view_.panels = owner_->data();
}

PackedMatrix::PackedMatrix(kernels::PackedFormat format, std::int64_t rows, std::int64_t cols,
                           std::shared_ptr<Buffer> owner, std::byte* memory)
    : view_{.format = format, .rows = rows, .cols = cols, .panels = memory}, owner_(std::move(owner)) {
  check_extents(rows, cols);
}

PackedMatrix pack(const Tensor& matrix, kernels::PackedFormat format) {
  MT_CHECK_AS(ShapeError, matrix.dims() == 2, "pack: expected a matrix [N, K], got {}", to_string(matrix.shape()));
  const DType dtype = matrix.dtype();
  MT_CHECK_AS(DTypeError, dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16,
              "pack: expected dtype f32, f16 or bf16, got {}", name_of(dtype));
  const Tensor source = matrix.contiguous();
  PackedMatrix packed(format, matrix.size(0), matrix.size(1));
  const auto row_bytes = matrix.size(1) * static_cast<std::int64_t>(size_of(dtype));
  ExecutionScope::current().runtime.threads->run([&](int worker, int count) {
    // Whole panels per worker, so that no two write into one panel.
    const std::int64_t panels = kernels::num_panels(packed.rows());
    const std::int64_t begin = panels * worker / count * kernels::kPanelWidth;
    const std::int64_t end = std::min(panels * (worker + 1) / count * kernels::kPanelWidth, packed.rows());
    if (begin >= end) return;
    const auto* rows = static_cast<const std::byte*>(source.raw_data()) + begin * row_bytes;
    kernels::pack_rows(packed.view(), begin, end - begin, rows, dtype);
  });
  return packed;
}

}  // namespace minitorch
