// Quantising groups of weights for the int8 and int4 panels of packed_matrix.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/packed_matrix.h"
#include "minitorch/base/float16.h"

namespace minitorch::kernels {

struct WeightGroup {
  Float16 scale;
  std::int8_t quants[kGroupCols];
};

// The rules are in packed_matrix.h. A group that is shorter ends with zeros, whose quants are 0. The same bits on every
// machine. `largest` is the largest magnitude in w: quantise_int8 and quantise_int4 return a scale that is infinite or
// NaN when it is beyond what f16 scales reach.
[[nodiscard]] WeightGroup quantise_int8(const float (&w)[kGroupCols], float largest);
[[nodiscard]] WeightGroup quantise_int4(const float (&w)[kGroupCols], float largest);

// Quantises group `group` of row `row` by destination.format into its place. Throws Error that names the row where the
// weights are not finite or too large.
void pack_group(const PackedView& destination, std::int64_t row, std::int64_t group, const float (&w)[kGroupCols]);

// Gives the lanes of the last panel that no row fills quants of 0.
void fill_lanes_without_rows(const PackedView& destination, std::byte* panel);

}  // namespace minitorch::kernels
