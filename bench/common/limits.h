// What the machine can do, to judge everything else by: the rate of reading memory, and of multiply-adds in registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "minitorch/base/memory.h"
#include "minitorch/base/thread_pool.h"

namespace minitorch::bench {

// Memory on huge pages where the system offers them, all of it written: untouched pages would all be one page of zeros.
[[nodiscard]] Buffer touched_memory(std::size_t bytes);

// Reads all of `memory` once, every thread its own part in four streams, prefetched. Returns what keeps the reads from
// being optimised away.
std::uint64_t read_memory(ThreadPool& pool, std::span<const std::byte> memory);

// A loop of independent multiply-adds that touches no memory.
struct RegisterLoop {
  std::string name;                   // "fma f32 avx512", "dot int8 avx512vnni", ...
  double operations_per_round = 0.0;  // a multiply-add counts as two
  void (*run)(std::int64_t rounds) = {};
};

// Those this machine can run, the widest of each kind first.
[[nodiscard]] std::vector<RegisterLoop> register_loops();

// Operations per second of all threads of the pool together, over about `rounds` rounds each.
[[nodiscard]] double operations_per_second(ThreadPool& pool, const RegisterLoop& loop, std::int64_t rounds);

}  // namespace minitorch::bench
