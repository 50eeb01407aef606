// The table of reference kernels.
#include "kernels/reference/reference.h"

namespace minitorch::kernels {

const KernelTable& reference_table() {
  static constexpr KernelTable kTable{
      "reference",
#define MT_KERNEL(function, Args) &reference::function,
#include "kernels/kernel_list.def"
#undef MT_KERNEL
  };
  return kTable;
}

}  // namespace minitorch::kernels
