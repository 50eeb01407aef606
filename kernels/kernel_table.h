// A backend is a table of functions, one per line of kernel_list.def.
#pragma once

#include <span>
#include <string_view>

#include "kernels/context.h"
#include "kernels/ops/adamw.h"
#include "kernels/ops/argmax.h"
#include "kernels/ops/attention.h"
#include "kernels/ops/causal_attention.h"
#include "kernels/ops/copy.h"
#include "kernels/ops/cross_entropy.h"
#include "kernels/ops/gather_rows.h"
#include "kernels/ops/index.h"
#include "kernels/ops/kv_cache.h"
#include "kernels/ops/layer_norm.h"
#include "kernels/ops/linear.h"
#include "kernels/ops/matmul.h"
#include "kernels/ops/pointwise.h"
#include "kernels/ops/reduce.h"
#include "kernels/ops/rms_norm.h"
#include "kernels/ops/rope.h"
#include "kernels/ops/silu_mul.h"
#include "kernels/ops/softmax.h"
#include "kernels/ops/top_k.h"

namespace minitorch::kernels {

struct KernelTable {
  std::string_view name;  // "reference", "scalar", "avx2", "avx512", "avx512vnni"
#define MT_KERNEL(function, Args) void (*function)(const Context&, const Args&);
#include "kernels/kernel_list.def"
#undef MT_KERNEL
};

// Plain loops with double accumulation: the executable specification, used in tests.
[[nodiscard]] const KernelTable& reference_table();

// The CPU tables this machine can run, slowest first; always holds "scalar".
[[nodiscard]] std::span<const KernelTable* const> cpu_tables();

// The one of cpu_tables() with that name. Throws Error when there is none or the machine lacks its instructions.
[[nodiscard]] const KernelTable& cpu_table(std::string_view name);

// The fastest of cpu_tables(), or the one named by the environment variable MINITORCH_ISA.
// Throws Error when that name is unknown or the machine lacks the instructions.
[[nodiscard]] const KernelTable& best_cpu_table();

}  // namespace minitorch::kernels
