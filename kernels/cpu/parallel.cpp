// Threads and scratch memory for the CPU kernels.
#include "kernels/cpu/parallel.h"

#include "minitorch/base/check.h"

namespace minitorch::kernels {

void run_workers(const Context& context, void* argument, void (*body)(void* argument, int worker, int count)) {
  context.pool.run([=](int worker, int count) { body(argument, worker, count); });
}

std::int64_t attention_scratch_per_thread(const AttentionArgs& args) {
  return static_cast<std::int64_t>(attention_scratch_bytes(args, 1));
}

std::byte* attention_scratch(const Context& context, const AttentionArgs& args) {
  const std::size_t needed = attention_scratch_bytes(args, context.pool.size());
  MT_CHECK(context.scratch.size() >= needed, "attention: expected {} bytes of scratch memory, got {}", needed,
           context.scratch.size());
  return context.scratch.data();
}

}  // namespace minitorch::kernels
