// Aligned memory from the heap or, when large, mapped with a request for huge pages.
#include "minitorch/base/memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>  // std::aligned_alloc
#include <cstring>  // std::memset
#include <utility>

#include "minitorch/base/check.h"

namespace minitorch {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kSmallPage = std::size_t{4} << 10;
constexpr std::size_t kMaxBytes = std::size_t{1}
                                  << 47;  // the address space; also keeps the arithmetic below from overflowing

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

// A range ends on a whole huge page, so that its tail gets one too, unless that would waste more than an eighth.
constexpr std::size_t mapped_size(std::size_t bytes) {
  const std::size_t whole = round_up(bytes, kHugePage);
  return whole - bytes <= bytes / 8 ? whole : round_up(bytes, kSmallPage);
}

// Maps more than needed and cuts both ends off, so that the start is aligned to a huge page. Null when memory is short.
std::byte* map_aligned(std::size_t bytes) {
  const std::size_t reserved = bytes + kHugePage;
  void* start = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(start);
  const std::size_t head = (kHugePage - reinterpret_cast<std::uintptr_t>(begin) % kHugePage) % kHugePage;
  if (head > 0) munmap(begin, head);
  if (const std::size_t tail = reserved - head - bytes; tail > 0) munmap(begin + head + bytes, tail);
#ifdef MADV_HUGEPAGE
  madvise(begin + head, bytes, MADV_HUGEPAGE);  // refused where huge pages are off: small pages serve as well
#endif
  return begin + head;
}

std::byte* allocate_from_heap(std::size_t bytes) {
  const std::size_t rounded = round_up(bytes > 0 ? bytes : 1, kBufferAlignment);
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(kBufferAlignment, rounded));
  if (memory != nullptr) std::memset(memory, 0, rounded);
  return memory;
}

}  // namespace

std::byte* allocate_zeroed(std::size_t bytes) {
  std::byte* memory = nullptr;
  if (bytes <= kMaxBytes) memory = bytes >= kHugePage ? map_aligned(mapped_size(bytes)) : allocate_from_heap(bytes);
  MT_CHECK(memory != nullptr, "memory: cannot get {} bytes from the system", bytes);
  return memory;
}

void free_zeroed(std::byte* memory, std::size_t bytes) noexcept {
  if (memory == nullptr) return;
  if (bytes >= kHugePage) {
    munmap(memory, mapped_size(bytes));
  } else {
    std::free(memory);
  }
}

Buffer::Buffer(std::size_t bytes) : data_(bytes > 0 ? allocate_zeroed(bytes) : nullptr), bytes_(bytes) {}

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  Buffer taken(std::move(other));  // frees the former memory here, not when `other` ends
  std::swap(data_, taken.data_);
  std::swap(bytes_, taken.bytes_);
  return *this;
}

}  // namespace minitorch
