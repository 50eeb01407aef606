// The CPU tables of this build. Each lives in a file of its own, compiled for its instruction set.
#pragma once

#include "kernels/kernel_table.h"

#if defined(__x86_64__)
#define MINITORCH_X86_TABLES 1
#else
#define MINITORCH_X86_TABLES 0
#endif
#if defined(__aarch64__)
#define MINITORCH_ARM_TABLES 1
#else
#define MINITORCH_ARM_TABLES 0
#endif

namespace minitorch::kernels {

// clang-format off
namespace scalar { const KernelTable& table(); }
#if MINITORCH_X86_TABLES
namespace avx2 { const KernelTable& table(); }
namespace avx512 { const KernelTable& table(); }
namespace avx512vnni { const KernelTable& table(); }
#endif
#if MINITORCH_ARM_TABLES
namespace neon { const KernelTable& table(); }
namespace neondot { const KernelTable& table(); }
#endif
// clang-format on

}  // namespace minitorch::kernels
