// The NEON table for processors with dot products of bytes (FEAT_DotProd, from ARMv8.2 on): that of table_neon.cpp with
// another linear for int8 and int4 weights.
#if defined(__aarch64__)
#include "kernels/cpu/linear_scratch.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/quads_neon.h"
#include "kernels/cpu/tables.h"
#include "kernels/cpu/vec_neon.h"

namespace minitorch::kernels::neondot {
namespace {

using namespace neon;  // the vectors, compiled here with dot products

#include "kernels/cpu/common.inl"

// What stands on it.
#include "kernels/cpu/linear_tile.inl"

// The kernel.
#include "kernels/cpu/linear_quantised.inl"

void linear(const Context& context, const LinearArgs& args) {
  if (is_quantised(args.weight.format)) return linear_quantised(context, args);
  neon::table().linear(context, args);
}

}  // namespace

const KernelTable& table() {
  static const KernelTable kTable = [] {
    KernelTable made = neon::table();
    made.name = "neondot";
    made.linear = &linear;
    return made;
  }();
  return kTable;
}

}  // namespace minitorch::kernels::neondot
#endif  // __aarch64__
