// Strided conversion of one line of elements from any element type to any other, by the rules of kernels/ops/copy.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "minitorch/base/dtype.h"

namespace minitorch::kernels {

// destination[i * destination_step] = convert(source[i * source_step]) for i < count; steps are in elements.
void convert_line(DType source_dtype, const std::byte* source, std::int64_t source_step, DType destination_dtype,
                  std::byte* destination, std::int64_t destination_step, std::int64_t count);

}  // namespace minitorch::kernels
