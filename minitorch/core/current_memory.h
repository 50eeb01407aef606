// The memory pool of the current ExecutionScope, without starting a runtime as ExecutionScope::current() does.
#pragma once

#include "minitorch/core/storage.h"

namespace minitorch {

[[nodiscard]] MemoryPool& current_memory();

}  // namespace minitorch
