// The reference kernels by name, for tables that lack a kernel of their own and for the tests.
#pragma once

#include "kernels/kernel_table.h"

namespace minitorch::kernels::reference {

// Plain loops with double accumulation. Unlike the fast tables they may allocate and always run on the calling thread.
#define MT_KERNEL(function, Args) void function(const Context& context, const Args& args);
#include "kernels/kernel_list.def"
#undef MT_KERNEL

}  // namespace minitorch::kernels::reference
