// Marks pooled memory that nobody owns as forbidden, so that AddressSanitizer sees errors inside pools too.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define MT_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MT_ADDRESS_SANITIZER 1
#endif
#endif
#ifdef MT_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace minitorch {

#ifdef MT_ADDRESS_SANITIZER
inline void poison([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
  ASAN_POISON_MEMORY_REGION(memory, bytes);
}
inline void unpoison([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
  ASAN_UNPOISON_MEMORY_REGION(memory, bytes);
}
#else
inline void poison(void*, std::size_t) {}
inline void unpoison(void*, std::size_t) {}
#endif

// A free block of a pool whose first word links to the next one. The link stays readable: the leak check follows no
// pointer that lies in poisoned memory.
inline void poison_free_block(void* memory, std::size_t bytes) {
  poison(static_cast<std::byte*>(memory) + sizeof(void*), bytes - sizeof(void*));
}

}  // namespace minitorch
