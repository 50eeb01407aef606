// Sorting and merging of dimensions.
#include "kernels/cpu/strided_loops.h"

#include <cstdlib>  // std::abs
#include <utility>  // std::swap

namespace minitorch::kernels {
namespace {

void swap_dims(StridedLoops& loops, int operands, int a, int b) {
  std::swap(loops.shape[a], loops.shape[b]);
  for (int i = 0; i < operands; ++i) std::swap(loops.strides[i][a], loops.strides[i][b]);
}

// Whether dimensions `outer` and `inner` are one in every operand.
bool are_one(const StridedLoops& loops, int operands, int outer, int inner) {
  for (int i = 0; i < operands; ++i) {
    if (loops.strides[i][outer] != loops.strides[i][inner] * loops.shape[inner]) return false;
  }
  return true;
}

void merge(StridedLoops& loops, int operands) {
  int last = 0;
  for (int dim = 1; dim < loops.dims; ++dim) {
    if (are_one(loops, operands, last, dim)) {
      loops.shape[last] *= loops.shape[dim];
    } else {
      loops.shape[++last] = loops.shape[dim];
    }
    for (int i = 0; i < operands; ++i) loops.strides[i][last] = loops.strides[i][dim];
  }
  if (loops.dims > last + 1) loops.dims = last + 1;
}

}  // namespace

StridedLoops make_loops(int dims, const std::int64_t* shape, const std::int64_t* const* strides, int operands,
                        bool sort) {
  StridedLoops loops;
  for (int dim = 0; dim < dims; ++dim) {
    if (shape[dim] == 0) loops.lines = 0;
    if (shape[dim] <= 1) continue;
    int place = loops.dims++;
    loops.shape[place] = shape[dim];
    for (int i = 0; i < operands; ++i) loops.strides[i][place] = strides[i][dim];
    for (; sort && place > 0 && std::abs(loops.strides[0][place - 1]) < std::abs(loops.strides[0][place]); --place) {
      swap_dims(loops, operands, place - 1, place);
    }
  }
  merge(loops, operands);
  if (loops.dims > 0) {
    const int last = --loops.dims;
    loops.length = loops.shape[last];
    for (int i = 0; i < operands; ++i) loops.steps[i] = loops.strides[i][last];
  } else {
    for (int i = 0; i < operands; ++i) loops.steps[i] = 1;
  }
  for (int dim = 0; dim < loops.dims; ++dim) loops.lines *= loops.shape[dim];
  return loops;
}

std::int64_t offset_of(const StridedLoops& loops, int operand, std::int64_t line) {
  std::int64_t offset = 0;
  for (int dim = loops.dims - 1; dim >= 0; --dim) {
    offset += line % loops.shape[dim] * loops.strides[operand][dim];
    line /= loops.shape[dim];
  }
  return offset;
}

}  // namespace minitorch::kernels
