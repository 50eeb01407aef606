// What every kernel receives besides its Args: who computes, and scratch memory. Kernels never allocate.
#pragma once

#include <cstddef>
#include <span>

#include "minitorch/base/thread_pool.h"

namespace minitorch::kernels {

struct Context {
  ThreadPool& pool;
  std::span<std::byte> scratch{};  // at least <kernel>_scratch_bytes(args, pool.size()), aligned to 64 bytes
  void* stream = nullptr;          // device backends only
};

}  // namespace minitorch::kernels
