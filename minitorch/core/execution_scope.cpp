// The thread-local state behind ExecutionScope.
#include "minitorch/core/execution_scope.h"

#include <algorithm>
#include <utility>

#include "minitorch/base/memory.h"
#include "minitorch/core/current_memory.h"

namespace minitorch {
namespace {

// `runtime` stays empty until somebody computes: reading a file needs no threads.
thread_local ExecutionScope::State current_state;

}  // namespace

const Runtime& default_runtime() {
  // Never destroyed: at exit other threads may still compute, and a forked child has no workers to join.
  static const Runtime* const runtime =
      new Runtime{.table = &kernels::best_cpu_table(), .threads = new ThreadPool(default_thread_count())};
  return *runtime;
}

ExecutionScope::ExecutionScope(const State& state) : former_(std::exchange(current_state, state)) {}

ExecutionScope::~ExecutionScope() { current_state = former_; }

const ExecutionScope::State& ExecutionScope::current() {
  Runtime& runtime = current_state.runtime;
  if (runtime.table == nullptr) runtime.table = default_runtime().table;
  if (runtime.threads == nullptr) runtime.threads = default_runtime().threads;
  current_state.memory = &current_memory();
  return current_state;
}

MemoryPool& current_memory() { return current_state.memory != nullptr ? *current_state.memory : default_memory_pool(); }

bool grad_enabled() noexcept { return current_state.grad_enabled; }

GradMode::GradMode(bool enabled) : former_(std::exchange(current_state.grad_enabled, enabled)) {}

GradMode::~GradMode() { current_state.grad_enabled = former_; }

std::span<std::byte> scratch_memory(std::size_t bytes) {
  thread_local Buffer scratch;
  if (scratch.size() < bytes) {
    scratch = {};  // the content is not kept, so the old memory may go first
    scratch = Buffer(std::max(bytes, std::size_t{64} << 10));
  }
  return scratch.span().first(bytes);
}

}  // namespace minitorch
