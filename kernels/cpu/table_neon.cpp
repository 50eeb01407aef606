// The NEON table, for every processor of arm64.
#if defined(__aarch64__)
#include "kernels/cpu/gemm_blocks.h"
#include "kernels/cpu/linear_scratch.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/portable.h"
#include "kernels/cpu/quads_neon.h"
#include "kernels/cpu/strided_loops.h"
#include "kernels/cpu/tables.h"
#include "kernels/cpu/vec_neon.h"
#include "kernels/pointwise_functors.h"
#include "kernels/reference/reference.h"

namespace minitorch::kernels::neon {
namespace {

#include "kernels/cpu/all_kernels.inl"

constinit const KernelTable kTable{
    "neon",
#define MT_KERNEL(function, Args) &function,
#include "kernels/kernel_list.def"
#undef MT_KERNEL
};

}  // namespace

const KernelTable& table() { return kTable; }

}  // namespace minitorch::kernels::neon
#endif  // __aarch64__
