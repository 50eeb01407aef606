// copy: strided copy with conversion of the element type.
#pragma once

#include <cstdint>

#include "minitorch/base/dtype.h"

namespace minitorch::kernels {

inline constexpr int kMaxDims = 8;

// destination[i...] = convert(source[i...]) over a shape of up to 8 dimensions; strides are in elements and may be 0 in
// the source (broadcast) but not in the destination. Source and destination do not overlap.
// Conversions: float to narrower float rounds to nearest even; float to integer truncates towards zero and saturates
// (NaN gives 0); anything to bool is `!= 0`; integer to narrower integer keeps the low bits.
struct CopyArgs {
  int dims = 0;
  std::int64_t shape[kMaxDims] = {};
  const void* source = nullptr;
  DType source_dtype = DType::kF32;
  std::int64_t source_strides[kMaxDims] = {};
  void* destination = nullptr;
  DType destination_dtype = DType::kF32;
  std::int64_t destination_strides[kMaxDims] = {};
};

}  // namespace minitorch::kernels
