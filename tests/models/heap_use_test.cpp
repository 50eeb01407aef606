// The decode loop allocates nothing: global operator new of this test program counts its calls.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "minitorch/base/thread_pool.h"
#include "models/causal_lm.h"
#include "tests/support/data.h"
#include "tests/support/random_model.h"

namespace {

std::atomic<long> num_allocations{0};

void* counted(std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) noexcept {
  ++num_allocations;
  return std::aligned_alloc(alignment, (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment);
}

void* or_throw(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// All forms, because a sanitizer's own would not call the plain one.
void* operator new(std::size_t bytes) { return or_throw(counted(bytes)); }
void* operator new[](std::size_t bytes) { return or_throw(counted(bytes)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return or_throw(counted(bytes, static_cast<std::size_t>(alignment)));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return or_throw(counted(bytes, static_cast<std::size_t>(alignment)));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

namespace minitorch::test {
namespace {

using models::Batch;
using models::KVCache;
using models::Outputs;
using models::Want;

TEST_CASE("a decode step with a draft tree touches the heap at no point after warm-up") {
  ThreadPool threads(2);
  const auto model = make_random_model({}, /*seed=*/1, Runtime{&kernels::best_cpu_table(), &threads});
  KVCache cache = model->make_cache(500);
  cache.reserve(500);
  Batch batch;
  Outputs outputs;
  outputs.top_k = 3;
  const std::int32_t kept[] = {0, 2};  // not in slot order, so that rows are moved
  const auto step = [&](Want want) {
    batch.clear();
    batch.caches.push_back(&cache);
    batch.add(0, 5, KVCache::kRoot);
    for (const std::int32_t parent : {0, 0, 1, 2, 2, 5}) batch.add(0, 7 + parent, parent);
    outputs.want.assign(7, want);
    model->forward(batch, outputs);
    cache.keep(kept);
  };
  for (const Want want : {Want::kArgmax, Want::kTopK, Want::kLogits}) {
    step(want);
    step(want);
    const long before = num_allocations;
    for (int i = 0; i < 50; ++i) step(want);
    const long in_steps = num_allocations - before;
    CAPTURE(static_cast<int>(want));
    CHECK(in_steps == 0);
  }
}

TEST_CASE("the counter of allocations counts") {
  const long before = num_allocations;
  int* volatile kept = new int(1);  // volatile, or the pair could be optimised away
  delete kept;
  CHECK(num_allocations - before == 1);
}

}  // namespace
}  // namespace minitorch::test
