// A kernel table that calls another one and adds up the time of each kernel.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/kernel_table.h"

namespace minitorch::bench {

struct KernelTime {
  std::string_view name;
  double seconds = 0.0;
  std::int64_t calls = 0;
};

// The table for `inner`, which outlives it. Kernels are plain functions, so there is one such table in a program: every
// call sets what all use from then on. For kernels called from one thread at a time.
[[nodiscard]] const kernels::KernelTable& timed_table(const kernels::KernelTable& inner);

// Since the last reset, in the order of kernel_list.def.
[[nodiscard]] std::vector<KernelTime> kernel_times();
void reset_kernel_times();

}  // namespace minitorch::bench
