// Copies and conversions of tensors, all through the `copy` kernel of the current table.
#include <algorithm>

#include "kernels/ops/copy.h"
#include "minitorch/autograd/record.h"
#include "minitorch/base/check.h"
#include "minitorch/core/execution_scope.h"
#include "minitorch/core/tensor.h"

namespace minitorch {
namespace {

static_assert(kMaxDims == kernels::kMaxDims);

// The bytes between the first and the last element of a non-empty tensor.
struct ByteRange {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;
};

ByteRange byte_range(const Tensor& tensor) {
  std::int64_t last = 0;
  for (int dim = 0; dim < tensor.dims(); ++dim) last += (tensor.shape()[dim] - 1) * tensor.strides()[dim];
  const auto* const begin = static_cast<const std::byte*>(tensor.raw_data());
  return {begin, begin + (last + 1) * static_cast<std::int64_t>(size_of(tensor.dtype()))};
}

bool may_overlap(const Tensor& a, const Tensor& b) {
  if (!a.shares_storage_with(b)) return false;
  const ByteRange range_a = byte_range(a);
  const ByteRange range_b = byte_range(b);
  return range_a.begin < range_b.end && range_b.begin < range_a.end;
}

bool writes_twice(const Tensor& tensor) {
  for (int dim = 0; dim < tensor.dims(); ++dim) {
    if (tensor.strides()[dim] == 0 && tensor.shape()[dim] > 1) return true;
  }
  return false;
}

// Same shape, no overlap.
void run_copy_kernel(const Tensor& destination, const Tensor& source) {
  kernels::CopyArgs args{.dims = destination.dims(),
                         .source = source.raw_data(),
                         .source_dtype = source.dtype(),
                         .destination = destination.raw_data(),
                         .destination_dtype = destination.dtype()};
  std::copy(destination.shape().begin(), destination.shape().end(), args.shape);
  std::copy(source.strides().begin(), source.strides().end(), args.source_strides);
  std::copy(destination.strides().begin(), destination.strides().end(), args.destination_strides);
  const Runtime& runtime = ExecutionScope::current().runtime;
  runtime.table->copy(kernels::Context{.pool = *runtime.threads}, args);
}

Tensor copy_as(const Tensor& source, DType dtype) {
  Tensor result = Tensor::empty(source.shape(), dtype);
  if (source.numel() > 0) run_copy_kernel(result, source);
  return result;
}

}  // namespace

Tensor Tensor::contiguous() const { return is_contiguous() ? *this : clone(); }

Tensor Tensor::clone() const {
  Tensor result = copy_as(*this, dtype());
  autograd::record(result, "clone", {this}, [] {
    return [](const Tensor& gradient, autograd::InputGradients& inputs) { inputs.set(0, gradient); };
  });
  return result;
}

Tensor Tensor::to(DType dtype) const {
  if (dtype == this->dtype()) return *this;
  Tensor result = copy_as(*this, dtype);
  if (dtype != DType::kF32 && dtype != DType::kF64) return result;  // no gradient flows through the others
  autograd::record(result, "to", {this}, [this] {
    return [former = this->dtype()](const Tensor& gradient, autograd::InputGradients& inputs) {
      inputs.set(0, gradient.to(former));
    };
  });
  return result;
}

void Tensor::copy_(const Tensor& source) const {
  MT_CHECK(!autograd::gradient_flows({this, &source}),
           "copy_: expected tensors that require no gradient, which would be lost: detach() or switch gradients off");
  const Tensor expanded = source.expand(shape());
  MT_CHECK_AS(ShapeError, !writes_twice(*this),
              "copy_: expected a destination without expanded dimensions, got {} with strides {}", to_string(shape()),
              to_string(strides()));
  if (numel() == 0) return;
  if (!may_overlap(*this, expanded)) {
    run_copy_kernel(*this, expanded);
  } else if (raw_data() != expanded.raw_data() || strides() != expanded.strides()) {
    run_copy_kernel(*this, expanded.clone());
  }
}

}  // namespace minitorch
