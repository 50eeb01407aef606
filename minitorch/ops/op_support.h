// What the sources of the ops share: argument checks, the current table, and tensors as matrices. Private to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernels/context.h"
#include "kernels/kernel_table.h"
#include "minitorch/base/check.h"
#include "minitorch/core/execution_scope.h"
#include "minitorch/core/tensor.h"

namespace minitorch::ops {

[[nodiscard]] inline const kernels::KernelTable& table() { return *ExecutionScope::current().runtime.table; }
[[nodiscard]] inline int num_threads() { return ExecutionScope::current().runtime.threads->size(); }
[[nodiscard]] inline kernels::Context context(std::size_t scratch_bytes = 0) {
  kernels::Context result{.pool = *ExecutionScope::current().runtime.threads};
  if (scratch_bytes > 0) result.scratch = scratch_memory(scratch_bytes);
  return result;
}

[[nodiscard]] inline bool is_float(const Tensor& x) { return x.dtype() == DType::kF32 || x.dtype() == DType::kF64; }

void check_dtype(std::string_view op, std::string_view argument, const Tensor& tensor, DType dtype);
// f32 or f64.
void check_float(std::string_view op, std::string_view argument, const Tensor& tensor);
void check_num_dims(std::string_view op, std::string_view argument, const Tensor& tensor, int dims);
void check_shape(std::string_view op, std::string_view argument, const Tensor& tensor, const Shape& shape);
// The gradient of that argument would be lost.
void check_constant(std::string_view op, std::string_view argument, const Tensor& tensor);

// f32 with that many dimensions, or of that shape.
void check_f32_dims(std::string_view op, std::string_view argument, const Tensor& tensor, int dims);
void check_f32_shape(std::string_view op, std::string_view argument, const Tensor& tensor, const Shape& shape);

// A matrix whose rows are contiguous; they may lie apart. Copies only where they are not.
[[nodiscard]] Tensor with_contiguous_rows(const Tensor& matrix);

// x [..., C] as [M, C] with contiguous rows. Copies only where it must; not recorded.
[[nodiscard]] Tensor as_rows(const Tensor& x);

// The extent of the last dimension; throws ShapeError for a scalar.
[[nodiscard]] std::int64_t last_extent(std::string_view op, std::string_view argument, const Tensor& x);

// A tensor without dimensions.
[[nodiscard]] Tensor scalar(double value, DType dtype);

}  // namespace minitorch::ops
