// Threads and scratch memory for the CPU kernels.
//
// The first three are plain functions, not templates: a file compiled for an instruction set must not instantiate
// inline functions that another file may then be linked against.
#pragma once

#include <cstdint>

#include "kernels/context.h"
#include "kernels/ops/attention.h"

namespace minitorch::kernels {

// Calls body(argument, worker, count) as ThreadPool::run does.
void run_workers(const Context& context, void* argument, void (*body)(void* argument, int worker, int count));

// The caller's scratch memory for attention. Throws Error when it is too small.
std::byte* attention_scratch(const Context& context, const AttentionArgs& args);
std::int64_t attention_scratch_per_thread(const AttentionArgs& args);  // bytes, a multiple of 64

// Part `index` of `count` of nearly equal size of [0, size).
struct Range {
  std::int64_t begin, end;
};
[[gnu::always_inline]] inline Range part_of(std::int64_t size, int index, int count) {
  return {size * index / count, size * (index + 1) / count};
}

}  // namespace minitorch::kernels
