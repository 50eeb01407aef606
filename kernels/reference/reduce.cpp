// Reference reduce: one element after the other, sums in the widest type.
#include "kernels/reference/reference.h"
#include "kernels/reference/strided.h"

namespace minitorch::kernels::reference {
namespace {

// The best element so far and its place; a NaN beats everything but an earlier NaN.
struct Best {
  double value = 0.0;
  std::int64_t place = -1;

  void offer(double candidate, std::int64_t at, bool largest) {
    const bool better = largest ? candidate > value : candidate < value;
    const bool first_nan = candidate != candidate && value == value;
    if (place >= 0 && !better && !first_nan) return;
    value = candidate;
    place = at;
  }
};

template <typename T>
void reduce_typed(const ReduceArgs& args) {
  const auto* x = static_cast<const T*>(args.x);
  const int kept = args.kept_dims;
  std::int64_t place = 0;
  for_each_index(args.shape, kept, [&](const std::int64_t* index) {
    const T* first = x + offset_of(index, args.x_strides, kept);
    long double sum = 0.0L;  // wider than f64 where the machine has it
    Best best;
    std::int64_t at = 0;
    const bool largest = args.op == ReduceOp::kMax || args.op == ReduceOp::kArgmax;
    for_each_index(args.shape + kept, args.reduced_dims, [&](const std::int64_t* inner) {
      const T value = first[offset_of(inner, args.x_strides + kept, args.reduced_dims)];
      sum += value;
      best.offer(value, at++, largest);
    });
    switch (args.op) {
      case ReduceOp::kSum: static_cast<T*>(args.out)[place] = static_cast<T>(sum); break;
      case ReduceOp::kMax:
      case ReduceOp::kMin: static_cast<T*>(args.out)[place] = static_cast<T>(best.value); break;
      case ReduceOp::kArgmax:
      case ReduceOp::kArgmin: static_cast<std::int64_t*>(args.out)[place] = best.place; break;
    }
    ++place;
  });
}

}  // namespace

void reduce(const Context&, const ReduceArgs& args) {
  args.dtype == DType::kF64 ? reduce_typed<double>(args) : reduce_typed<float>(args);
}

}  // namespace minitorch::kernels::reference
