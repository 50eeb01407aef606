// Aligned buffers; large ones are placed on huge pages where the system offers them.
#pragma once

#include <cstddef>
#include <span>

namespace minitorch {

inline constexpr std::size_t kBufferAlignment = 64;  // one cache line, one AVX-512 vector

// Zeroed memory aligned to kBufferAlignment, never null. From 2 MiB on it is mapped directly, aligned to 2 MiB, with a
// request for transparent huge pages: on virtual machines the first touch of a 4 KiB page can cost 15 microseconds.
// Throws Error when memory is short.
[[nodiscard]] std::byte* allocate_zeroed(std::size_t bytes);
// Gives back what allocate_zeroed returned for the same number of bytes; null is ignored.
void free_zeroed(std::byte* memory, std::size_t bytes) noexcept;

// An owned block of allocate_zeroed memory; data() of an empty buffer is null.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes);  // throws Error when memory is short
  ~Buffer() { free_zeroed(data_, bytes_); }
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }
  [[nodiscard]] std::span<std::byte> span() const { return {data_, bytes_}; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace minitorch
