// The only implicit state of the library: who computes, where memory comes from, and whether gradients are recorded.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/kernel_table.h"
#include "minitorch/base/thread_pool.h"
#include "minitorch/core/storage.h"

namespace minitorch {

// Who computes: a backend's table and the threads it may use.
struct Runtime {
  const kernels::KernelTable* table = nullptr;
  ThreadPool* threads = nullptr;
};

// The fastest CPU table on default_thread_count() threads, made at first use.
[[nodiscard]] const Runtime& default_runtime();

// Sets the calling thread's state for its lifetime and restores the former state at its end, also after an exception.
// Null members stand for the defaults. A thread starts with default_runtime(), default_memory_pool() and gradients on;
// it inherits nothing from its creator.
class ExecutionScope {
 public:
  struct State {
    Runtime runtime{};
    MemoryPool* memory = nullptr;
    bool grad_enabled = true;
  };

  explicit ExecutionScope(const State& state);
  ~ExecutionScope();
  ExecutionScope(const ExecutionScope&) = delete;
  ExecutionScope& operator=(const ExecutionScope&) = delete;

  [[nodiscard]] static const State& current();

 private:
  State former_;
};

// Whether gradients are recorded on this thread.
[[nodiscard]] bool grad_enabled() noexcept;

// Switches gradient recording off (on) for its lifetime, on this thread.
class GradMode {
 public:
  explicit GradMode(bool enabled);
  ~GradMode();
  GradMode(const GradMode&) = delete;
  GradMode& operator=(const GradMode&) = delete;

 private:
  bool former_;
};

// Switches gradient recording off for its lifetime, on this thread.
class NoGradGuard : GradMode {
 public:
  NoGradGuard() : GradMode(false) {}
};

// Kernel scratch of this thread, kept and reused from call to call; grows to the largest request.
[[nodiscard]] std::span<std::byte> scratch_memory(std::size_t bytes);

}  // namespace minitorch
