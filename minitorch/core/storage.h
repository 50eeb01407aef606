// Reference-counted element memory, and the pool it comes from.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace minitorch {

// A pool of memory blocks by size class: what a finished step gives back serves the next, so that after warm-up neither
// the heap nor an untouched page is used. Safe for use from several threads; outlives every block taken from it.
class MemoryPool {
 public:
  struct Stats {
    std::int64_t bytes_in_use = 0;
    std::int64_t bytes_reserved = 0;      // in use or kept for reuse
    std::int64_t allocations = 0;         // requests so far
    std::int64_t system_allocations = 0;  // requests that had to take new memory
  };

  MemoryPool();
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // 64-byte aligned, not initialised; throws Error when memory is short.
  [[nodiscard]] void* allocate(std::size_t bytes);
  void deallocate(void* pointer, std::size_t bytes) noexcept;
  // Returns the unused blocks to the system.
  void trim();
  [[nodiscard]] Stats stats() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The pool used outside any ExecutionScope. Never destroyed.
[[nodiscard]] MemoryPool& default_memory_pool();

}  // namespace minitorch
