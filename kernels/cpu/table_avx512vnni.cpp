// The AVX-512 table for processors with VNNI: that of table_avx512.cpp with another linear for int8 and int4 weights.
#if defined(__x86_64__)
#include "kernels/cpu/linear_scratch.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/tables.h"
#include "kernels/cpu/vec_avx512.h"

namespace minitorch::kernels::avx512vnni {
namespace {

using namespace avx512;  // the vectors, compiled here with VNNI

#include "kernels/cpu/common.inl"

// What stands on it.
#include "kernels/cpu/linear_tile.inl"

// The kernel.
#include "kernels/cpu/linear_quantised.inl"

void linear(const Context& context, const LinearArgs& args) {
  if (is_quantised(args.weight.format)) return linear_quantised(context, args);
  avx512::table().linear(context, args);
}

}  // namespace

const KernelTable& table() {
  static const KernelTable kTable = [] {
    KernelTable made = avx512::table();
    made.name = "avx512vnni";
    made.linear = &linear;
    return made;
  }();
  return kTable;
}

}  // namespace minitorch::kernels::avx512vnni
#endif  // __x86_64__
