// Reference map, zip and where: the functors in double, rounded once.
#include "kernels/pointwise_functors.h"
#include "kernels/reference/reference.h"
#include "kernels/reference/strided.h"

namespace minitorch::kernels::reference {
namespace {

template <typename T>
void map_typed(const MapArgs& args) {
  const auto* x = static_cast<const T*>(args.x);
  auto* out = static_cast<T*>(args.out);
  for_each_index(args.shape, args.dims, [&](const std::int64_t* index) {
    const double value = x[offset_of(index, args.x_strides, args.dims)];
    const double result = functors::with_functor(args.op, [value](auto functor) { return functor.apply(value); });
    out[offset_of(index, args.out_strides, args.dims)] = static_cast<T>(result);
  });
}

template <typename T>
void zip_typed(const ZipArgs& args) {
  const auto* a = static_cast<const T*>(args.a);
  const auto* b = static_cast<const T*>(args.b);
  for_each_index(args.shape, args.dims, [&](const std::int64_t* index) {
    const double left = a[offset_of(index, args.a_strides, args.dims)];
    const double right = b[offset_of(index, args.b_strides, args.dims)];
    const std::int64_t place = offset_of(index, args.out_strides, args.dims);
    functors::with_functor(args.op, [&](auto functor) {
      using Result = functors::ResultOf<decltype(functor), T>;
      static_cast<Result*>(args.out)[place] = static_cast<Result>(functor.apply(left, right));
    });
  });
}

template <typename T>
void where_typed(const WhereArgs& args) {
  const auto* a = static_cast<const T*>(args.a);
  const auto* b = static_cast<const T*>(args.b);
  auto* out = static_cast<T*>(args.out);
  for_each_index(args.shape, args.dims, [&](const std::int64_t* index) {
    const bool condition = args.condition[offset_of(index, args.condition_strides, args.dims)];
    out[offset_of(index, args.out_strides, args.dims)] =
        condition ? a[offset_of(index, args.a_strides, args.dims)] : b[offset_of(index, args.b_strides, args.dims)];
  });
}

}  // namespace

void map(const Context&, const MapArgs& args) {
  args.dtype == DType::kF64 ? map_typed<double>(args) : map_typed<float>(args);
}

void zip(const Context&, const ZipArgs& args) {
  args.dtype == DType::kF64 ? zip_typed<double>(args) : zip_typed<float>(args);
}

void where(const Context&, const WhereArgs& args) {
  args.dtype == DType::kF64 ? where_typed<double>(args) : where_typed<float>(args);
}

}  // namespace minitorch::kernels::reference
