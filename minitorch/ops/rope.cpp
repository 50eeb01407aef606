// rope: rotary positions of the leading heads of each row.
#include <array>
#include <utility>

#include "minitorch/autograd/record.h"
#include "minitorch/ops/fused.h"
#include "minitorch/ops/index.h"
#include "minitorch/ops/op_support.h"
#include "minitorch/ops/operators.h"
#include "minitorch/ops/pointwise.h"

namespace minitorch::ops {
namespace {

using autograd::InputGradients;
using autograd::record;

Tensor rope_composite(const Tensor& x, std::int64_t heads, const Tensor& cos, const Tensor& sin) {
  const std::int64_t half = cos.size(1);
  const std::int64_t width = heads * 2 * half;
  const Tensor rotated = x.slice(1, {.stop = width}).reshape({x.size(0), heads, 2 * half});
  const Tensor low = rotated.slice(2, {.stop = half});
  const Tensor high = rotated.slice(2, {.start = half});
  const Tensor c = cos.unsqueeze(1);
  const Tensor s = sin.unsqueeze(1);
  const std::array parts{low * c - high * s, high * c + low * s};
  const std::array rows{cat(parts, 2).reshape({x.size(0), width}), x.slice(1, {.start = width})};
  return cat(rows, 1);
}

// x's own memory when nobody else can see it, else a copy. Without a history.
Tensor writable_rows(const Tensor& x) {
  const NoGradGuard unrecorded;
  const bool own_rows = x.size(0) <= 1 || x.strides()[0] >= x.size(1);
  const bool contiguous_rows = x.size(1) <= 1 || x.strides()[1] == 1;
  return x.is_sole_owner() && own_rows && contiguous_rows ? x.detach() : x.clone();
}

void rotate(const Tensor& rows, std::int64_t heads, const Tensor& cos, const Tensor& sin) {
  const Tensor flat_cos = cos.contiguous();
  const Tensor flat_sin = sin.contiguous();
  table().rope(context(), {.x = rows.data<float>(),
                           .x_stride = rows.strides()[0],
                           .cos = flat_cos.data<float>(),
                           .sin = flat_sin.data<float>(),
                           .rows = rows.size(0),
                           .heads = heads,
                           .head_dim = 2 * cos.size(1)});
}

}  // namespace

Tensor rope(Tensor x, std::int64_t heads, const Tensor& cos, const Tensor& sin) {
  check_float("rope", "x", x);
  check_num_dims("rope", "x", x, 2);
  check_num_dims("rope", "cos", cos, 2);
  check_shape("rope", "cos", cos, {x.size(0), cos.size(1)});
  check_shape("rope", "sin", sin, cos.shape());
  for (const auto& [name, angles] : {std::pair{"cos", &cos}, std::pair{"sin", &sin}}) {
    check_dtype("rope", name, *angles, x.dtype());
    check_constant("rope", name, *angles);
  }
  MT_CHECK_AS(ShapeError, heads >= 0 && heads * 2 * cos.size(1) <= x.size(1),
              "rope: expected rows of at least {} heads of {} elements, got {}", heads, 2 * cos.size(1),
              to_string(x.shape()));
  if (x.dtype() == DType::kF64) return rope_composite(x, heads, cos, sin);
  Tensor y = writable_rows(x);
  rotate(y, heads, cos, sin);
  record(y, "rope", {&x}, [&] {
    // A rotation is linear and its gradient the rotation back.
    return [heads, cos, sin](const Tensor& dy, InputGradients& inputs) { inputs.set(0, rope(dy, heads, cos, -sin)); };
  });
  return y;
}

}  // namespace minitorch::ops
