// MemoryPool and ExecutionScope: reuse after warm-up, and state that is restored.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include "minitorch/base/error.h"
#include "minitorch/base/philox.h"
#include "minitorch/core/execution_scope.h"
#include "minitorch/core/storage.h"
#include "minitorch/core/tensor.h"

namespace {
thread_local long heap_allocations = 0;  // calls of operator new on this thread
}  // namespace

void* operator new(std::size_t bytes) {
  ++heap_allocations;
  if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace minitorch {
namespace {

TEST_CASE("blocks are aligned, large enough and distinct") {
  MemoryPool pool;
  std::vector<std::pair<void*, std::size_t>> blocks;
  for (const std::size_t bytes : {0UL, 1UL, 63UL, 64UL, 65UL, 1000UL, 4096UL, 1UL << 20, (2UL << 20) + 1, 5UL << 20}) {
    void* memory = pool.allocate(bytes);
    CHECK(memory != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(memory) % 64 == 0);
    std::memset(memory, static_cast<int>(blocks.size()), bytes);
    blocks.emplace_back(memory, bytes);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto [memory, bytes] = blocks[i];
    if (bytes > 0) CHECK(static_cast<unsigned char*>(memory)[bytes - 1] == i);
    pool.deallocate(memory, bytes);
  }
  CHECK(pool.stats().bytes_in_use == 0);
  CHECK(pool.stats().bytes_reserved > 0);
}

TEST_CASE("freed blocks serve later requests of their size class until trim") {
  MemoryPool pool;
  void* const first = pool.allocate(1000);
  pool.deallocate(first, 1000);
  void* const second = pool.allocate(600);  // the same power of two
  CHECK(second == first);
  pool.deallocate(second, 600);
  CHECK(pool.stats().allocations == 2);
  CHECK(pool.stats().system_allocations == 1);
  CHECK(pool.stats().bytes_reserved == 1024);
  pool.trim();
  CHECK(pool.stats().bytes_reserved == 0);
  pool.deallocate(pool.allocate(1000), 1000);
  CHECK(pool.stats().system_allocations == 2);
}

TEST_CASE("blocks above 256 MiB go back to the system at once") {
  MemoryPool pool;
  constexpr std::size_t kBytes = (std::size_t{256} << 20) + 1;
  void* const memory = pool.allocate(kBytes);
  std::memset(static_cast<std::byte*>(memory) + kBytes - 100, 1, 100);
  CHECK(pool.stats().bytes_reserved == static_cast<std::int64_t>(kBytes));
  pool.deallocate(memory, kBytes);
  CHECK(pool.stats().bytes_reserved == 0);
  CHECK(pool.stats().bytes_in_use == 0);
}

TEST_CASE("memory that is not there is an error and leaves the counts alone") {
  MemoryPool pool;
  CHECK_THROWS_AS((void)pool.allocate(SIZE_MAX), Error);
  CHECK_THROWS_AS((void)pool.allocate(std::size_t{1} << 50), Error);
  CHECK(pool.stats().allocations == 0);
  CHECK(pool.stats().bytes_in_use == 0);
}

TEST_CASE("several threads share one pool") {
  MemoryPool pool;
  std::vector<std::thread> threads;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&pool, seed] {
      PhiloxStream random(seed);
      for (int i = 0; i < 1000; ++i) {
        const std::size_t bytes = random.below(10000);
        auto* const memory = static_cast<std::byte*>(pool.allocate(bytes));
        std::memset(memory, static_cast<int>(seed), bytes);
        pool.deallocate(memory, bytes);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(pool.stats().allocations == 4000);
  CHECK(pool.stats().bytes_in_use == 0);
}

// A step as a decoder makes it: tensors of several sizes, views and conversions, all dropped at the end.
void run_step(std::int64_t rows) {
  const Tensor x = Tensor::zeros({rows, 300});
  const Tensor heads = x.view({rows, 3, 100}).permute({1, 0, 2});
  const Tensor copied = heads.contiguous();
  const Tensor narrow = copied.to(DType::kBF16).slice(0, {.start = 1});
  const Tensor large = Tensor::empty({rows, 700'000});  // mapped memory
  large.select(0, 0).copy_(Tensor::full({}, 1));
}

TEST_CASE("after warm-up a repeated step takes no memory from system or heap") {
  MemoryPool pool;
  const ExecutionScope scope({.memory = &pool});
  for (int i = 0; i < 5; ++i) run_step(1 + i);
  const MemoryPool::Stats before = pool.stats();
  const long heap_before = heap_allocations;
  for (int i = 0; i < 50; ++i) run_step(1 + i % 5);
  CHECK(heap_allocations == heap_before);
  CHECK(pool.stats().system_allocations == before.system_allocations);
  CHECK(pool.stats().allocations > before.allocations);
  CHECK(pool.stats().bytes_in_use == 0);
}

TEST_CASE("tensors take memory from the pool of the current scope and return it there") {
  MemoryPool pool;
  Tensor kept;
  {
    const ExecutionScope scope({.memory = &pool});
    kept = Tensor::zeros({100});
    CHECK(&*ExecutionScope::current().memory == &pool);
  }
  const Tensor outside = Tensor::zeros({100});
  CHECK(pool.stats().allocations == 1);
  CHECK(pool.stats().bytes_in_use == 512);
  kept = Tensor();
  CHECK(pool.stats().bytes_in_use == 0);
}

TEST_CASE("a scope restores the former state, also after an exception") {
  ThreadPool threads(1);
  MemoryPool pool;
  const Runtime& standard = default_runtime();
  try {
    const ExecutionScope scope({.runtime = {.table = &kernels::reference_table(), .threads = &threads},
                                .memory = &pool,
                                .grad_enabled = false});
    CHECK(ExecutionScope::current().runtime.table == &kernels::reference_table());
    CHECK(ExecutionScope::current().runtime.threads == &threads);
    CHECK(ExecutionScope::current().memory == &pool);
    CHECK_FALSE(ExecutionScope::current().grad_enabled);
    throw std::runtime_error("inside");
  } catch (const std::runtime_error&) {
  }
  CHECK(ExecutionScope::current().runtime.table == standard.table);
  CHECK(ExecutionScope::current().runtime.threads == standard.threads);
  CHECK(ExecutionScope::current().memory == &default_memory_pool());
  CHECK(ExecutionScope::current().grad_enabled);
}

TEST_CASE("null members of a scope's state stand for the defaults") {
  const ExecutionScope scope({});
  CHECK(ExecutionScope::current().runtime.table == default_runtime().table);
  CHECK(ExecutionScope::current().runtime.threads == default_runtime().threads);
  CHECK(ExecutionScope::current().memory == &default_memory_pool());
}

TEST_CASE("a thread starts with the defaults whatever its creator's scope") {
  MemoryPool pool;
  const ExecutionScope scope({.memory = &pool, .grad_enabled = false});
  bool defaults = false;
  std::thread([&] {
    const auto& state = ExecutionScope::current();
    defaults =
        state.memory == &default_memory_pool() && state.grad_enabled && state.runtime.table == default_runtime().table;
  }).join();
  CHECK(defaults);
}

TEST_CASE("gradient mode nests and is restored after an exception") {
  const auto enabled = [] { return ExecutionScope::current().grad_enabled; };
  CHECK(enabled());
  try {
    const GradMode off(false);
    CHECK_FALSE(enabled());
    {
      const GradMode on(true);
      CHECK(enabled());
    }
    CHECK_FALSE(enabled());
    throw std::runtime_error("inside");
  } catch (const std::runtime_error&) {
  }
  CHECK(enabled());
}

TEST_CASE("scratch memory is aligned, kept from call to call and private to its thread") {
  const auto small = scratch_memory(100);
  CHECK(small.size() == 100);
  CHECK(reinterpret_cast<std::uintptr_t>(small.data()) % 64 == 0);
  const auto large = scratch_memory(3 << 20);
  CHECK(large.size() == 3 << 20);
  std::memset(large.data(), 1, large.size());
  CHECK(scratch_memory(50).data() == large.data());
  const std::byte* other = nullptr;
  std::thread([&] { other = scratch_memory(50).data(); }).join();
  CHECK(other != large.data());
}

}  // namespace
}  // namespace minitorch
