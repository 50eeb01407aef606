// Ops that pick, place and join elements.
#include "minitorch/ops/index.h"

#include <string_view>
#include <vector>

#include "kernels/ops/index.h"
#include "minitorch/autograd/record.h"
#include "minitorch/ops/op_support.h"

namespace minitorch::ops {
namespace {

using autograd::InputGradients;
using autograd::record;

Tensor pick_rows(const Tensor& rows_of, const Tensor& ids);

// Zeros [num_rows, C] plus row m of x at ids[m].
Tensor place_rows(const Tensor& x, const Tensor& ids, std::int64_t num_rows) {
  Tensor target = Tensor::zeros({num_rows, x.size(1)}, x.dtype());
  const Tensor rows = as_rows(x);
  if (x.numel() > 0) {
    table().add_rows(context(), {.dtype = x.dtype(),
                                 .table = target.raw_data(),
                                 .table_stride = target.strides()[0],
                                 .ids = ids.data<std::int32_t>(),
                                 .x = rows.raw_data(),
                                 .x_stride = rows.strides()[0],
                                 .rows = x.size(0),
                                 .cols = x.size(1)});
  }
  record(target, "embedding_backward", {&x},
         [&] { return [ids](const Tensor& dy, InputGradients& inputs) { inputs.set(0, pick_rows(dy, ids)); }; });
  return target;
}

Tensor pick_rows(const Tensor& rows_of, const Tensor& ids) {
  Tensor out = Tensor::empty({ids.numel(), rows_of.size(1)}, rows_of.dtype());
  const Tensor rows = as_rows(rows_of);
  if (out.numel() > 0) {
    table().index_rows(context(), {.dtype = rows.dtype(),
                                   .table = rows.raw_data(),
                                   .table_stride = rows.strides()[0],
                                   .ids = ids.data<std::int32_t>(),
                                   .out = out.raw_data(),
                                   .out_stride = out.strides()[0],
                                   .rows = out.size(0),
                                   .cols = out.size(1)});
  }
  record(out, "embedding", {&rows_of}, [&] {
    return [ids, num_rows = rows_of.size(0)](const Tensor& dy, InputGradients& inputs) {
      inputs.set(0, place_rows(dy, ids, num_rows));
    };
  });
  return out;
}

// The extents before, at and after `dim`.
struct Split {
  std::int64_t outer = 1, extent = 1, inner = 1;
};
Split split_at(const Shape& shape, int dim) {
  Split split{.extent = shape[dim]};
  for (int i = 0; i < shape.dims(); ++i) {
    if (i < dim) split.outer *= shape[i];
    if (i > dim) split.inner *= shape[i];
  }
  return split;
}

// Shapes equal but for `dim`.
bool agree_except(const Shape& a, const Shape& b, int dim) {
  if (a.dims() != b.dims()) return false;
  for (int i = 0; i < a.dims(); ++i) {
    if (i != dim && a[i] != b[i]) return false;
  }
  return true;
}

// Contiguous indices, all in [0, extent).
Tensor checked_index(std::string_view op, const Tensor& index, std::int64_t extent) {
  Tensor flat = index.contiguous();
  for (const std::int64_t place : std::span(flat.data<std::int64_t>(), static_cast<std::size_t>(flat.numel()))) {
    MT_CHECK(place >= 0 && place < extent, "{}: expected indices in [0, {}), got {}", op, extent, place);
  }
  return flat;
}

Tensor contiguous_unrecorded(const Tensor& x) {
  const NoGradGuard unrecorded;
  return x.contiguous();
}

}  // namespace

Tensor embedding(const Tensor& table_matrix, std::span<const std::int32_t> ids) {
  check_float("embedding", "table", table_matrix);
  check_num_dims("embedding", "table", table_matrix, 2);
  for (const std::int32_t id : ids) {
    MT_CHECK(id >= 0 && id < table_matrix.size(0), "embedding: expected ids in [0, {}), got {}", table_matrix.size(0),
             id);
  }
  return pick_rows(table_matrix, Tensor::from(ids, {static_cast<std::int64_t>(ids.size())}));
}

Tensor gather(const Tensor& x, int dim, const Tensor& index) {
  check_float("gather", "x", x);
  check_dtype("gather", "index", index, DType::kI64);
  dim = normalize_dim("gather", dim, x.dims());
  MT_CHECK_AS(ShapeError, agree_except(x.shape(), index.shape(), dim),
              "gather: expected an index of shape {} but for dimension {}, got {}", to_string(x.shape()), dim,
              to_string(index.shape()));
  const Tensor places = checked_index("gather", index, x.shape()[dim]);
  Tensor out = Tensor::empty(index.shape(), x.dtype());
  if (out.numel() > 0) {
    const Tensor flat = contiguous_unrecorded(x);
    const Split split = split_at(x.shape(), dim);
    table().gather(context(), {.dtype = x.dtype(),
                               .x = flat.raw_data(),
                               .index = places.data<std::int64_t>(),
                               .out = out.raw_data(),
                               .outer = split.outer,
                               .extent = split.extent,
                               .picks = index.shape()[dim],
                               .inner = split.inner});
  }
  record(out, "gather", {&x}, [&] {
    return [places, dim, extent = x.shape()[dim]](const Tensor& dy, InputGradients& inputs) {
      inputs.set(0, scatter_add(dy, dim, places, extent));
    };
  });
  return out;
}

Tensor scatter_add(const Tensor& x, int dim, const Tensor& index, std::int64_t extent) {
  check_float("scatter_add", "x", x);
  check_dtype("scatter_add", "index", index, DType::kI64);
  check_shape("scatter_add", "index", index, x.shape());
  dim = normalize_dim("scatter_add", dim, x.dims());
  MT_CHECK_AS(ShapeError, extent >= 0, "scatter_add: expected an extent of at least 0, got {}", extent);
  const Tensor places = checked_index("scatter_add", index, extent);
  Shape shape = x.shape();
  shape[dim] = extent;
  Tensor target = Tensor::zeros(shape, x.dtype());
  if (x.numel() > 0) {
    const Tensor flat = contiguous_unrecorded(x);
    const Split split = split_at(x.shape(), dim);
    table().scatter_add(context(), {.dtype = x.dtype(),
                                    .x = flat.raw_data(),
                                    .index = places.data<std::int64_t>(),
                                    .target = target.raw_data(),
                                    .outer = split.outer,
                                    .extent = extent,
                                    .picks = split.extent,
                                    .inner = split.inner});
  }
  record(target, "scatter_add", {&x}, [&] {
    return [places, dim](const Tensor& dy, InputGradients& inputs) { inputs.set(0, gather(dy, dim, places)); };
  });
  return target;
}

Tensor cat(std::span<const Tensor> tensors, int dim) {
  MT_CHECK_AS(ShapeError, !tensors.empty(), "cat: expected at least one tensor, got none");
  const Tensor& first = tensors.front();
  dim = normalize_dim("cat", dim, first.dims());
  Shape shape = first.shape();
  shape[dim] = 0;
  std::vector<const Tensor*> inputs_of;
  std::vector<std::int64_t> starts;
  for (const Tensor& tensor : tensors) {
    check_dtype("cat", "tensors", tensor, first.dtype());
    MT_CHECK_AS(ShapeError, agree_except(tensor.shape(), first.shape(), dim),
                "cat: expected tensors of shape {} but for dimension {}, got {}", to_string(first.shape()), dim,
                to_string(tensor.shape()));
    inputs_of.push_back(&tensor);
    starts.push_back(shape[dim]);
    shape[dim] += tensor.shape()[dim];
  }
  Tensor out = Tensor::empty(shape, first.dtype());
  starts.push_back(shape[dim]);
  {
    const NoGradGuard unrecorded;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      out.slice(dim, {.start = starts[i], .stop = starts[i + 1]}).copy_(tensors[i]);
    }
  }
  record(out, "cat", inputs_of, [&] {
    return [dim, starts](const Tensor& dy, InputGradients& inputs) {
      for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
        const int input = static_cast<int>(i);
        if (inputs.wanted(input)) inputs.set(input, dy.slice(dim, {.start = starts[i], .stop = starts[i + 1]}));
      }
    };
  });
  return out;
}

Tensor stack(std::span<const Tensor> tensors, int dim) {
  MT_CHECK_AS(ShapeError, !tensors.empty(), "stack: expected at least one tensor, got none");
  dim = normalize_dim("stack", dim, tensors.front().dims() + 1);
  std::vector<Tensor> slices;
  for (const Tensor& tensor : tensors) {
    check_shape("stack", "tensors", tensor, tensors.front().shape());
    slices.push_back(tensor.unsqueeze(dim));
  }
  return cat(slices, dim);
}

Tensor slice_backward(const Tensor& x, const Shape& shape, int dim, const Slice& bounds) {
  check_float("slice_backward", "x", x);
  Tensor target = Tensor::zeros(shape, x.dtype());
  {
    const NoGradGuard unrecorded;
    const Tensor place = target.slice(dim, bounds);
    check_shape("slice_backward", "x", x, place.shape());
    place.copy_(x);
  }
  record(target, "slice_backward", {&x}, [&] {
    return [dim, bounds](const Tensor& dy, InputGradients& inputs) { inputs.set(0, dy.slice(dim, bounds)); };
  });
  return target;
}

}  // namespace minitorch::ops
