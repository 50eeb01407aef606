// Decoding allocates no memory once it is warm. This file replaces the global operator new of its test program by a
// counting one.
#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>  // std::max_align_t
#include <cstdlib>
#include <new>

#include "minitorch/core/execution_scope.h"
#include "tests/speculative/helpers.h"
#include "tests/support/random_model.h"

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
// Not inlined: GCC would take the free() inside for one that does not match `new`.
void* operator new(std::size_t bytes) { return counted_or_throw(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return counted(bytes, alignof(std::max_align_t));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

using namespace minitorch;
using namespace minitorch::spec;

TEST_CASE("a second request of a session decodes a hundred tokens without an allocation, plainly and with drafts") {
  const auto model = test::make_random_model({}, 21, default_runtime());
  const test::Ids prompt{1, 2, 3, 1, 2};
  for (const std::int32_t gamma : {0, 4, 8}) {
    CAPTURE(gamma);
    const auto drafter = find_drafter("ngram").make({});
    Session session(*model, nullptr, drafter.get(), test::greedy());
    static_cast<void>(session.generate(prompt, test::options_of(200, gamma)));
    session.reset();
    long allocations = -1;
    int tokens = 0;
    static_cast<void>(session.generate(prompt, test::options_of(200, gamma), [&](const TokenEvent&) {
      if (++tokens == 50) num_allocations = 0;
      if (tokens == 150) allocations = num_allocations;
      return true;
    }));
    CHECK(allocations == 0);
  }
}

TEST_CASE("guard: the counter sees allocations") {
  num_allocations = 0;
  ::operator delete(::operator new(1000));
  CHECK(num_allocations == 1);
}
