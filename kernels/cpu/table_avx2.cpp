// The AVX2 table.
#if defined(__x86_64__)
#include "kernels/cpu/gemm_blocks.h"
#include "kernels/cpu/linear_scratch.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/portable.h"
#include "kernels/cpu/strided_loops.h"
#include "kernels/cpu/tables.h"
#include "kernels/cpu/vec_avx2.h"
#include "kernels/pointwise_functors.h"
#include "kernels/reference/reference.h"

namespace minitorch::kernels::avx2 {
namespace {

#include "kernels/cpu/all_kernels.inl"

constinit const KernelTable kTable{
    "avx2",
#define MT_KERNEL(function, Args) &function,
#include "kernels/kernel_list.def"
#undef MT_KERNEL
};

}  // namespace

const KernelTable& table() { return kTable; }

}  // namespace minitorch::kernels::avx2
#endif  // __x86_64__
