// Buffers: alignment, zeros, moves, and memory that is not there.
#include "minitorch/base/memory.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "minitorch/base/check.h"

namespace minitorch {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::uintptr_t address(const std::byte* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

TEST_CASE("buffers of every size are zeroed, writable and aligned, large ones to 2 MiB") {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65}, std::size_t{4097},
                                  kHugePage - 1, kHugePage, kHugePage + 1, 3 * kHugePage + 12345, 20 * kHugePage - 7}) {
    CAPTURE(bytes);
    const Buffer buffer(bytes);
    CHECK(buffer.size() == bytes);
    CHECK(address(buffer.data()) % (bytes >= kHugePage ? kHugePage : kBufferAlignment) == 0);
    CHECK(std::ranges::all_of(buffer.span(), [](std::byte value) { return value == std::byte{0}; }));
    std::ranges::fill(buffer.span(), std::byte{0xAB});
    CHECK(buffer.span().back() == std::byte{0xAB});
  }
}

TEST_CASE("an empty buffer holds nothing") {
  CHECK(Buffer().data() == nullptr);
  CHECK(Buffer(0).data() == nullptr);
  CHECK(Buffer(0).span().empty());
}

TEST_CASE("moving a buffer moves its memory") {
  Buffer first(100);
  first.data()[5] = std::byte{7};
  std::byte* const memory = first.data();
  Buffer second(std::move(first));
  CHECK(second.data() == memory);
  CHECK(second.size() == 100);
  Buffer third(3 * kHugePage);
  third = std::move(second);
  CHECK(third.data() == memory);
  CHECK(third.size() == 100);
  CHECK(third.data()[5] == std::byte{7});
  third = Buffer();
  CHECK(third.data() == nullptr);
}

TEST_CASE("memory that the system lacks is an error that names the size") {
  CHECK_THROWS_WITH_AS(Buffer(SIZE_MAX), "memory: cannot get 18446744073709551615 bytes from the system", Error);
  CHECK_THROWS_AS(Buffer(std::size_t{1} << 47), Error);
}

TEST_CASE("MT_CHECK throws the chosen type with the formatted text, and only when the condition fails") {
  CHECK_NOTHROW([] { MT_CHECK(1 + 1 == 2, "never"); }());
  CHECK_THROWS_WITH_AS([] { MT_CHECK(1 + 1 == 3, "sum: expected {}, got {}", 3, 2); }(), "sum: expected 3, got 2",
                       Error);
  CHECK_THROWS_AS([] { MT_CHECK_AS(ShapeError, false, "shape"); }(), ShapeError);
  CHECK_THROWS_AS([] { MT_CHECK_AS(IoError, false, "file"); }(), Error);
}

}  // namespace
}  // namespace minitorch
