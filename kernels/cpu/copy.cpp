// copy: dimensions are sorted and merged, then contiguous lines are copied as bytes and others element by element.
#include <algorithm>
#include <cstdlib>  // std::abs
#include <cstring>  // std::memcpy
#include <utility>  // std::swap

#include "kernels/cpu/convert_line.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/portable.h"

namespace minitorch::kernels::portable {
namespace {

constexpr std::int64_t kParallelBytes = 256 * 1024;
constexpr std::int64_t kChunk = 16 * 1024;  // elements of a line that one thread takes at a time

// The loops of a copy: `lines` of `length` elements each. Outer dimensions are 0 .. dims-1, the last one runs fastest.
struct Plan {
  int dims = 0;
  std::int64_t shape[kMaxDims] = {};
  std::int64_t source_strides[kMaxDims] = {};  // bytes
  std::int64_t destination_strides[kMaxDims] = {};
  std::int64_t lines = 1;
  std::int64_t length = 1;
  std::int64_t source_step = 1;  // elements within a line
  std::int64_t destination_step = 1;
};

// Dimensions by falling destination stride, so that writes go through memory in order; those of extent 1 are dropped.
CopyArgs sorted(const CopyArgs& args) {
  CopyArgs result = args;
  result.dims = 0;
  for (int dim = 0; dim < args.dims; ++dim) {
    if (args.shape[dim] == 1) continue;
    int place = result.dims++;
    result.shape[place] = args.shape[dim];
    result.source_strides[place] = args.source_strides[dim];
    result.destination_strides[place] = args.destination_strides[dim];
    for (; place > 0 && std::abs(result.destination_strides[place - 1]) < std::abs(result.destination_strides[place]);
         --place) {
      std::swap(result.shape[place - 1], result.shape[place]);
      std::swap(result.source_strides[place - 1], result.source_strides[place]);
      std::swap(result.destination_strides[place - 1], result.destination_strides[place]);
    }
  }
  return result;
}

// Merges neighbours that are one dimension in both arrays.
void merge(CopyArgs& args) {
  int last = 0;
  for (int dim = 1; dim < args.dims; ++dim) {
    const bool one = args.source_strides[last] == args.source_strides[dim] * args.shape[dim] &&
                     args.destination_strides[last] == args.destination_strides[dim] * args.shape[dim];
    if (one) {
      args.shape[last] *= args.shape[dim];
    } else {
      args.shape[++last] = args.shape[dim];
    }
    args.source_strides[last] = args.source_strides[dim];
    args.destination_strides[last] = args.destination_strides[dim];
  }
  args.dims = std::min(args.dims, last + 1);
}

Plan make_plan(const CopyArgs& args) {
  CopyArgs loops = sorted(args);
  merge(loops);
  Plan plan;
  if (loops.dims > 0) {
    plan.dims = loops.dims - 1;
    plan.length = loops.shape[plan.dims];
    plan.source_step = loops.source_strides[plan.dims];
    plan.destination_step = loops.destination_strides[plan.dims];
  }
  for (int dim = 0; dim < plan.dims; ++dim) {
    plan.shape[dim] = loops.shape[dim];
    plan.source_strides[dim] = loops.source_strides[dim] * static_cast<std::int64_t>(size_of(args.source_dtype));
    plan.destination_strides[dim] =
        loops.destination_strides[dim] * static_cast<std::int64_t>(size_of(args.destination_dtype));
    plan.lines *= loops.shape[dim];
  }
  return plan;
}

// Elements [begin, end) of line `line`.
void copy_part(const CopyArgs& args, const Plan& plan, std::int64_t line, std::int64_t begin, std::int64_t end) {
  const auto source_size = static_cast<std::int64_t>(size_of(args.source_dtype));
  const auto destination_size = static_cast<std::int64_t>(size_of(args.destination_dtype));
  const auto* source = static_cast<const std::byte*>(args.source) + begin * plan.source_step * source_size;
  auto* destination = static_cast<std::byte*>(args.destination) + begin * plan.destination_step * destination_size;
  for (int dim = plan.dims - 1; dim >= 0; --dim) {
    const std::int64_t index = line % plan.shape[dim];
    line /= plan.shape[dim];
    source += index * plan.source_strides[dim];
    destination += index * plan.destination_strides[dim];
  }
  const bool same = args.source_dtype == args.destination_dtype;
  if (same && plan.source_step == 1 && plan.destination_step == 1) {
    std::memcpy(destination, source, static_cast<std::size_t>((end - begin) * source_size));
    return;
  }
  convert_line(args.source_dtype, source, plan.source_step, args.destination_dtype, destination, plan.destination_step,
               end - begin);
}

}  // namespace

void copy(const Context& context, const CopyArgs& args) {
  for (int dim = 0; dim < args.dims; ++dim) {
    if (args.shape[dim] == 0) return;
  }
  const Plan plan = make_plan(args);
  const std::int64_t chunks = (plan.length + kChunk - 1) / kChunk;  // per line
  const auto copy_chunks = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i % chunks * kChunk;
      copy_part(args, plan, i / chunks, first, std::min(first + kChunk, plan.length));
    }
  };
  const std::int64_t bytes = plan.lines * plan.length * static_cast<std::int64_t>(size_of(args.destination_dtype));
  if (bytes < kParallelBytes) return copy_chunks(0, plan.lines * chunks);
  context.pool.run([&](int worker, int count) {
    const Range part = part_of(plan.lines * chunks, worker, count);
    copy_chunks(part.begin, part.end);
  });
}

}  // namespace minitorch::kernels::portable
