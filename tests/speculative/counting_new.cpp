// A file of its own: where GCC inlines one operator of a pair and not the other, it warns that malloc and delete, or
// new and free, do not match.
#include "tests/speculative/counting_new.h"

#include <atomic>
#include <cstddef>  // std::max_align_t
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> num_allocations = 0;

void* counted(std::size_t bytes, std::size_t alignment) noexcept {
  num_allocations.fetch_add(1, std::memory_order_relaxed);
  return std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment);
}

void* counted_or_throw(std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
  void* memory = counted(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// The forms of single objects; those of arrays call them, here or in a sanitizer, where they stay a pair of their own.
void* operator new(std::size_t bytes) { return counted_or_throw(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return counted(bytes, alignof(std::max_align_t));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

namespace minitorch::test {

void reset_allocation_count() { num_allocations = 0; }

long allocation_count() { return num_allocations; }

}  // namespace minitorch::test
