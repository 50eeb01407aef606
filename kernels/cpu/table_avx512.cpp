// The AVX-512 table.
#if defined(__x86_64__)
#include "kernels/cpu/gemm_blocks.h"
#include "kernels/cpu/linear_scratch.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/portable.h"
#include "kernels/cpu/strided_loops.h"
#include "kernels/cpu/tables.h"
#include "kernels/cpu/vec_avx512.h"
#include "kernels/pointwise_functors.h"
#include "kernels/reference/reference.h"

namespace minitorch::kernels::avx512 {
namespace {

#include "kernels/cpu/all_kernels.inl"

constinit const KernelTable kTable{
    "avx512",
#define MT_KERNEL(function, Args) &function,
#include "kernels/kernel_list.def"
#undef MT_KERNEL
};

}  // namespace

const KernelTable& table() { return kTable; }

}  // namespace minitorch::kernels::avx512
#endif  // __x86_64__
