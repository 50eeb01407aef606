// Views: new shapes and strides over the same storage. Each records how its gradient is seen back through it.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "minitorch/autograd/record.h"
#include "minitorch/base/check.h"
#include "minitorch/core/tensor.h"
#include "minitorch/core/tensor_impl.h"
#include "minitorch/ops/index.h"
#include "minitorch/ops/reduce.h"

namespace minitorch {
namespace {

using autograd::InputGradients;
using autograd::record;

// Replaces the one extent of -1, if any, by what the source's elements leave for it.
Shape resolve_shape(const char* op, const Shape& wanted, const Tensor& source) {
  Shape shape = wanted;
  int unknown = -1;
  for (int dim = 0; dim < shape.dims(); ++dim) {
    MT_CHECK_AS(ShapeError, shape[dim] >= -1 && (shape[dim] >= 0 || unknown < 0),
                "{}: expected extents of at least 0 and at most one -1, got {}", op, to_string(wanted));
    if (shape[dim] < 0) unknown = dim;
  }
  if (unknown >= 0) {
    shape[unknown] = 1;
    const std::int64_t known = shape.numel();
    shape[unknown] = known > 0 ? source.numel() / known : -1;
  }
  const bool fits = (unknown < 0 || shape[unknown] >= 0) && shape.numel() == source.numel();
  MT_CHECK_AS(ShapeError, fits, "{}: expected a shape for the {} elements of {}, got {}", op, source.numel(),
              to_string(source.shape()), to_string(wanted));
  return shape;
}

// A stretch of elements at equal distances in memory, made of one or more dimensions.
struct Run {
  std::int64_t size = 1;
  std::int64_t stride = 1;
};

// The source's dimensions, neighbours joined where one continues the other. Returns the number of runs.
int join_dims(const Tensor& source, std::array<Run, kMaxDims>& runs) {
  int count = 0;
  for (int dim = 0; dim < source.dims(); ++dim) {
    const Run next{source.shape()[dim], source.strides()[dim]};
    if (next.size == 1) continue;
    if (count > 0 && runs[static_cast<std::size_t>(count - 1)].stride == next.size * next.stride) {
      Run& last = runs[static_cast<std::size_t>(count - 1)];
      last = {last.size * next.size, next.stride};
    } else {
      runs[static_cast<std::size_t>(count++)] = next;
    }
  }
  return count;
}

// Strides that show `source` in `shape` (of as many elements) without a copy: each new dimension must lie inside one
// run.
std::optional<Shape> view_strides(const Tensor& source, const Shape& shape) {
  if (source.numel() == 0) return contiguous_strides(shape);
  std::array<Run, kMaxDims> runs{};
  const int num_runs = join_dims(source, runs);
  Shape strides = shape;
  std::size_t current = 0;
  std::int64_t left = num_runs > 0 ? runs[0].size : 1;  // of the current run, not yet given to a dimension
  for (int dim = 0; dim < shape.dims(); ++dim) {
    if (shape[dim] > 1 && left == 1) left = runs[++current].size;
    if (left % shape[dim] != 0) return std::nullopt;
    left /= shape[dim];
    strides[dim] = left * runs[current].stride;
  }
  return strides;
}

// `index` of a dimension of `size` elements as a place in [0, size], as Python clamps slice bounds.
std::int64_t clamp_bound(std::int64_t index, std::int64_t size) {
  return std::clamp<std::int64_t>(index < 0 ? index + size : index, 0, size);
}

}  // namespace

Tensor Tensor::make_view(const Shape& shape, const Shape& strides, std::int64_t offset) const {
  return Tensor(make_view_impl(*impl_, shape, strides, offset));
}

Tensor Tensor::permute(std::span<const int> order) const {
  MT_CHECK_AS(ShapeError, static_cast<int>(order.size()) == dims(), "permute: expected {} dimensions for {}, got {}",
              dims(), to_string(shape()), order.size());
  Shape new_shape;
  Shape new_strides;
  std::array<bool, kMaxDims> used{};
  for (const int entry : order) {
    const int dim = normalize_dim("permute", entry, dims());
    MT_CHECK_AS(ShapeError, !std::exchange(used[static_cast<std::size_t>(dim)], true),
                "permute: expected every dimension of {} once, got {} twice", to_string(shape()), dim);
    new_shape.push_back(shape()[dim]);
    new_strides.push_back(strides()[dim]);
  }
  Tensor result = make_view(new_shape, new_strides, storage_offset());
  record(result, "permute", {this}, [&] {
    std::array<int, kMaxDims> inverse{};
    for (int dim = 0; dim < dims(); ++dim) {
      inverse[static_cast<std::size_t>(normalize_dim("permute", order[static_cast<std::size_t>(dim)], dims()))] = dim;
    }
    return [inverse](const Tensor& gradient, InputGradients& inputs) {
      inputs.set(0, gradient.permute(std::span(inverse).first(static_cast<std::size_t>(gradient.dims()))));
    };
  });
  return result;
}

Tensor Tensor::permute(std::initializer_list<int> order) const {
  return permute(std::span(order.begin(), order.size()));
}

Tensor Tensor::transpose(int dim0, int dim1) const {
  dim0 = normalize_dim("transpose", dim0, dims());
  dim1 = normalize_dim("transpose", dim1, dims());
  Shape new_shape = shape();
  Shape new_strides = strides();
  std::swap(new_shape[dim0], new_shape[dim1]);
  std::swap(new_strides[dim0], new_strides[dim1]);
  Tensor result = make_view(new_shape, new_strides, storage_offset());
  record(result, "transpose", {this}, [&] {
    return
        [dim0, dim1](const Tensor& gradient, InputGradients& inputs) { inputs.set(0, gradient.transpose(dim0, dim1)); };
  });
  return result;
}

Tensor Tensor::view(const Shape& wanted) const {
  const Shape resolved = resolve_shape("view", wanted, *this);
  const auto new_strides = view_strides(*this, resolved);
  MT_CHECK_AS(ShapeError, new_strides.has_value(), "view: {} with strides {} cannot be seen as {} without a copy",
              to_string(shape()), to_string(strides()), to_string(resolved));
  Tensor result = make_view(resolved, *new_strides, storage_offset());
  record(result, "view", {this}, [&] {
    return
        [former = shape()](const Tensor& gradient, InputGradients& inputs) { inputs.set(0, gradient.reshape(former)); };
  });
  return result;
}

Tensor Tensor::reshape(const Shape& wanted) const {
  const Shape resolved = resolve_shape("reshape", wanted, *this);
  return view_strides(*this, resolved) ? view(resolved) : clone().view(resolved);
}

Tensor Tensor::slice(int dim, const Slice& bounds) const {
  dim = normalize_dim("slice", dim, dims());
  MT_CHECK_AS(ShapeError, bounds.step >= 1, "slice: expected a step of at least 1, got {}", bounds.step);
  const std::int64_t start = clamp_bound(bounds.start, shape()[dim]);
  const std::int64_t stop = std::max(start, clamp_bound(bounds.stop, shape()[dim]));
  const std::int64_t count = stop > start ? (stop - start - 1) / bounds.step + 1 : 0;
  Shape new_shape = shape();
  Shape new_strides = strides();
  new_shape[dim] = count;
  if (count > 1) new_strides[dim] *= bounds.step;  // else the stride is not used, and a huge step would overflow
  Tensor result = make_view(new_shape, new_strides, storage_offset() + (count > 0 ? start * strides()[dim] : 0));
  record(result, "slice", {this}, [&] {
    return [former = shape(), dim, bounds](const Tensor& gradient, InputGradients& inputs) {
      inputs.set(0, ops::slice_backward(gradient, former, dim, bounds));
    };
  });
  return result;
}

Tensor Tensor::select(int dim, std::int64_t index) const {
  dim = normalize_dim("select", dim, dims());
  const std::int64_t size = shape()[dim];
  MT_CHECK_AS(ShapeError, index >= -size && index < size,
              "select: expected an index in [{}, {}) of dimension {} of {}, got {}", -size, size, dim,
              to_string(shape()), index);
  const std::int64_t place = index < 0 ? index + size : index;
  Shape new_shape = shape();
  Shape new_strides = strides();
  new_shape.erase(dim);
  new_strides.erase(dim);
  Tensor result = make_view(new_shape, new_strides, storage_offset() + place * strides()[dim]);
  record(result, "select", {this}, [&] {
    return [former = shape(), dim, place](const Tensor& gradient, InputGradients& inputs) {
      const Slice bounds{.start = place, .stop = place + 1};
      inputs.set(0, ops::slice_backward(gradient.unsqueeze(dim), former, dim, bounds));
    };
  });
  return result;
}

Tensor Tensor::expand(const Shape& wanted) const {
  const int lead = wanted.dims() - dims();
  Shape new_strides = wanted;
  for (int dim = 0; dim < wanted.dims(); ++dim) new_strides[dim] = 0;
  bool fits = lead >= 0;
  for (int dim = 0; fits && dim < dims(); ++dim) {
    const bool same = shape()[dim] == wanted[lead + dim];
    if (same) new_strides[lead + dim] = strides()[dim];
    fits = same || shape()[dim] == 1;
  }
  MT_CHECK_AS(ShapeError, fits, "expand: {} does not broadcast to {}", to_string(shape()), to_string(wanted));
  Tensor result = make_view(wanted, new_strides, storage_offset());
  record(result, "expand", {this},
         [] { return [](const Tensor& gradient, InputGradients& inputs) { inputs.set_broadcast(0, gradient); }; });
  return result;
}

Tensor Tensor::squeeze(int dim) const {
  dim = normalize_dim("squeeze", dim, dims());
  MT_CHECK_AS(ShapeError, shape()[dim] == 1, "squeeze: expected extent 1 in dimension {} of {}", dim,
              to_string(shape()));
  Shape new_shape = shape();
  Shape new_strides = strides();
  new_shape.erase(dim);
  new_strides.erase(dim);
  Tensor result = make_view(new_shape, new_strides, storage_offset());
  record(result, "squeeze", {this}, [&] {
    return [dim](const Tensor& gradient, InputGradients& inputs) { inputs.set(0, gradient.unsqueeze(dim)); };
  });
  return result;
}

Tensor Tensor::unsqueeze(int dim) const {
  dim = normalize_dim("unsqueeze", dim, dims() + 1);
  Shape new_shape = shape();
  Shape new_strides = strides();
  new_strides.insert(dim, dim < dims() ? shape()[dim] * strides()[dim] : 1);
  new_shape.insert(dim, 1);
  Tensor result = make_view(new_shape, new_strides, storage_offset());
  record(result, "unsqueeze", {this}, [&] {
    return [dim](const Tensor& gradient, InputGradients& inputs) { inputs.set(0, gradient.squeeze(dim)); };
  });
  return result;
}

}  // namespace minitorch
