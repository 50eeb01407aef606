// MemoryPool: one list of free blocks per power of two.
#include "minitorch/core/storage.h"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <new>
#include <utility>

#include "minitorch/base/check.h"
#include "minitorch/base/memory.h"
#include "minitorch/core/poison.h"

namespace minitorch {
namespace {

constexpr std::size_t kSmallestBlock = kBufferAlignment;
// Larger blocks go back to the system at once: they come from loading, not from a repeated step.
constexpr std::size_t kLargestKept = std::size_t{256} << 20;
constexpr std::size_t kNumClasses = std::countr_zero(kLargestKept) + 1;

// Powers of two: a large block reserves up to twice its request, but pages never touched cost address space only.
constexpr std::size_t block_size(std::size_t bytes) {
  return bytes > kLargestKept ? bytes : std::bit_ceil(std::max(bytes, kSmallestBlock));
}
constexpr std::size_t class_of(std::size_t block_bytes) {
  return static_cast<std::size_t>(std::countr_zero(block_bytes));
}

struct FreeBlock {
  FreeBlock* next;
};

}  // namespace

struct MemoryPool::State {
  mutable std::mutex mutex;
  std::array<FreeBlock*, kNumClasses> free{};  // index: log2 of the block size
  Stats stats;

  // Null when there is no free block of this size.
  void* take(std::size_t block_bytes) {
    if (block_bytes > kLargestKept) return nullptr;
    FreeBlock*& head = free[class_of(block_bytes)];
    if (head == nullptr) return nullptr;
    unpoison(head, block_bytes);
    return std::exchange(head, head->next);
  }
  void keep(void* memory, std::size_t block_bytes) {
    FreeBlock*& head = free[class_of(block_bytes)];
    head = new (memory) FreeBlock{head};
    poison_free_block(memory, block_bytes);
  }
};

MemoryPool::MemoryPool() : state_(std::make_unique<State>()) {}

MemoryPool::~MemoryPool() { trim(); }

void* MemoryPool::allocate(std::size_t bytes) {
  const std::size_t block_bytes = block_size(bytes);
  const std::lock_guard lock(state_->mutex);
  void* memory = state_->take(block_bytes);
  if (memory == nullptr) {
    memory = allocate_zeroed(block_bytes);
    ++state_->stats.system_allocations;
    state_->stats.bytes_reserved += static_cast<std::int64_t>(block_bytes);
  }
  ++state_->stats.allocations;
  state_->stats.bytes_in_use += static_cast<std::int64_t>(block_bytes);
  poison(static_cast<std::byte*>(memory) + bytes, block_bytes - bytes);
  return memory;
}

void MemoryPool::deallocate(void* pointer, std::size_t bytes) noexcept {
  if (pointer == nullptr) return;
  const std::size_t block_bytes = block_size(bytes);
  unpoison(pointer, block_bytes);
  const std::lock_guard lock(state_->mutex);
  state_->stats.bytes_in_use -= static_cast<std::int64_t>(block_bytes);
  if (block_bytes <= kLargestKept) {
    state_->keep(pointer, block_bytes);
  } else {
    state_->stats.bytes_reserved -= static_cast<std::int64_t>(block_bytes);
    free_zeroed(static_cast<std::byte*>(pointer), block_bytes);
  }
}

void MemoryPool::trim() {
  const std::lock_guard lock(state_->mutex);
  for (std::size_t block_class = 0; block_class < kNumClasses; ++block_class) {
    const std::size_t block_bytes = std::size_t{1} << block_class;
    while (void* memory = state_->take(block_bytes)) {
      free_zeroed(static_cast<std::byte*>(memory), block_bytes);
      state_->stats.bytes_reserved -= static_cast<std::int64_t>(block_bytes);
    }
  }
}

MemoryPool::Stats MemoryPool::stats() const {
  const std::lock_guard lock(state_->mutex);
  return state_->stats;
}

MemoryPool& default_memory_pool() {
  static MemoryPool* const pool = new MemoryPool;  // never destroyed: static tensors may outlive any other static
  return *pool;
}

}  // namespace minitorch
