// One table of every op with a backward: what the gradient checks call it with.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "minitorch/ops/fused.h"
#include "minitorch/ops/index.h"
#include "minitorch/ops/matmul.h"
#include "minitorch/ops/operators.h"
#include "minitorch/ops/pointwise.h"
#include "minitorch/ops/reduce.h"
#include "tests/minitorch/gradient_support.h"

namespace minitorch::test {

using Inputs = std::span<const Tensor>;

// The values of an input come from [low, high), where the derivatives are about 1 and no kink is near.
struct InputSpec {
  Shape shape;
  double low = -1.5;
  double high = 1.5;
  bool mirrored = false;  // every second one negated: both sides of a kink at 0
};

struct Case {
  std::string name;
  std::function<Tensor(Inputs)> function;  // of tensors of one dtype, f32 or f64
  std::vector<InputSpec> inputs;
  double step = 1e-5;  // of the differences; f32 inside needs a larger one
  double tolerance = 1e-6;
  bool smooth = true;  // in f64: second derivatives can be checked too

  // Leaves with this case's values.
  [[nodiscard]] std::vector<Tensor> make_inputs(DType dtype) const {
    std::vector<Tensor> result;
    for (const InputSpec& spec : inputs) {
      const Tensor values = random_tensor(spec.shape, 40 + result.size(), DType::kF64, spec.low, spec.high);
      if (spec.mirrored) {
        for (std::int64_t i = 0; i < values.numel(); i += 2) values.data<double>()[i] *= -1;
      }
      result.push_back(leaf(values.to(dtype)));
    }
    return result;
  }
};

using Cases = std::vector<Case>;

inline void add_pointwise_cases(Cases& cases) {
  const auto domain = [](const std::string& name, const Shape& shape) -> InputSpec {
    if (name == "sqrt" || name == "rsqrt" || name == "log") return {shape, 0.5, 2.0};
    if (name == "abs" || name == "relu" || name == "reciprocal") return {shape, 0.5, 1.5, /*mirrored=*/true};
    return {shape};
  };
  const std::array pairs{std::pair{Shape{3, 4}, Shape{3, 4}}, std::pair{Shape{2, 1, 3}, Shape{4, 1}},
                         std::pair{Shape{}, Shape{2, 3}}};
  const auto positive = [](const std::string& name, const Shape& shape) -> InputSpec {
    return name == "pow" || name == "div" ? InputSpec{shape, 0.6, 1.8} : InputSpec{shape};
  };
#define MT_UNARY(op, Functor)                                                             \
  for (const Shape& shape : {Shape{3, 4}, Shape{2, 1, 3}}) {                              \
    cases.push_back({#op, [](Inputs x) { return ops::op(x[0]); }, {domain(#op, shape)}}); \
  }                                                                                       \
  cases.push_back({#op, [](Inputs x) { return ops::op(x[0].transpose(0, 1)); }, {domain(#op, {2, 3})}});
#define MT_BINARY(op, Functor)                                                                   \
  for (const auto& [a, b] : pairs) {                                                             \
    const std::vector<InputSpec> specs{positive(#op, a), positive(#op, b)};                      \
    const std::vector<InputSpec> swapped{positive(#op, b), positive(#op, a)};                    \
    cases.push_back({#op, [](Inputs x) { return ops::op(x[0], x[1]); }, specs});                 \
    cases.push_back({#op, [](Inputs x) { return ops::op(x[0], x[1]); }, swapped});               \
  }                                                                                              \
  cases.push_back({#op, [](Inputs x) { return ops::op(x[0], 1.25); }, {positive(#op, {2, 3})}}); \
  cases.push_back({#op, [](Inputs x) { return ops::op(1.25, x[0]); }, {positive(#op, {2, 3})}}); \
  cases.push_back({#op, [](Inputs x) { return ops::op(x[0], x[0]); }, {positive(#op, {2, 3})}});
#define MT_COMPARE(op, Functor)
#include "kernels/pointwise.def"
#undef MT_UNARY
#undef MT_BINARY
#undef MT_COMPARE
  const auto checkered = [](const Shape& shape) {
    return ops::gt(ops::sin(Tensor::arange(shape.numel()) * 2.0), 0.0).view(shape);
  };
  cases.push_back({"where", [=](Inputs x) { return ops::where(checkered({2, 3}), x[0], x[1]); }, {{{2, 3}}, {{2, 3}}}});
  cases.push_back({"where", [=](Inputs x) { return ops::where(checkered({4, 1, 3}), x[0], x[1]); }, {{{2, 1}}, {{}}}});
  cases.push_back({"masked_fill", [=](Inputs x) { return ops::masked_fill(x[0], checkered({3}), 7.0); }, {{{2, 3}}}});
}

inline void add_reduction_cases(Cases& cases) {
  for (const auto& dims : {std::vector<int>{}, {0}, {-1}, {1, 2}, {0, 2}, {2, 0}}) {
    for (const bool keepdim : {false, true}) {
      cases.push_back({"sum", [=](Inputs x) { return ops::sum(x[0], dims, keepdim); }, {{{2, 3, 4}}}});
      cases.push_back({"mean", [=](Inputs x) { return ops::mean(x[0], dims, keepdim); }, {{{3, 1, 2}}}});
    }
  }
  for (const int dim : {0, 1, -1}) {
    for (const bool keepdim : {false, true}) {
      cases.push_back({"max", [=](Inputs x) { return ops::max(x[0], dim, keepdim); }, {{{2, 3, 4}}}});
      cases.push_back({"min", [=](Inputs x) { return ops::min(x[0], dim, keepdim); }, {{{4, 2}}}});
    }
  }
  for (const Shape& shape : {Shape{3}, Shape{1, 3}, Shape{2, 1}, Shape{}, Shape{2, 3}}) {
    cases.push_back({"sum_to", [=](Inputs x) { return ops::sum_to(x[0], shape); }, {{{2, 3}}}});
  }
}

inline void add_matmul_cases(Cases& cases) {
  const std::array shapes{std::pair{Shape{2, 3}, Shape{3, 4}},       std::pair{Shape{3}, Shape{3, 2}},
                          std::pair{Shape{2, 3}, Shape{3}},          std::pair{Shape{3}, Shape{3}},
                          std::pair{Shape{2, 2, 3}, Shape{2, 3, 2}}, std::pair{Shape{2, 2, 3}, Shape{3, 2}},
                          std::pair{Shape{2, 3}, Shape{4, 3, 2}},    std::pair{Shape{2, 1, 2, 3}, Shape{3, 3, 2}},
                          std::pair{Shape{2, 2, 3}, Shape{3}},       std::pair{Shape{3}, Shape{2, 3, 2}},
                          std::pair{Shape{1, 2, 3}, Shape{2, 3, 1}}, std::pair{Shape{1, 1}, Shape{1, 1}}};
  for (const auto& [a, b] : shapes) {
    cases.push_back({"matmul", [](Inputs x) { return ops::matmul(x[0], x[1]); }, {{a}, {b}}});
  }
  cases.push_back({"matmul of transposed views",
                   [](Inputs x) {
                     return ops::matmul(x[0].transpose(0, 1), x[1].permute({2, 1, 0}));
                   },
                   {{{3, 2}}, {{2, 3, 2}}}});
  cases.push_back({"linear", [](Inputs x) { return ops::linear(x[0], x[1]); }, {{{2, 3}}, {{4, 3}}}});
  cases.push_back({"linear", [](Inputs x) { return ops::linear(x[0], x[1], x[2]); }, {{{3}}, {{4, 3}}, {{4}}}});
  cases.push_back({"linear",
                   [](Inputs x) { return ops::linear(x[0], x[1], x[2], x[3]); },
                   {{{2, 2, 3}}, {{2, 3}}, {{2}}, {{2, 2, 2}}}});
  cases.push_back(
      {"linear", [](Inputs x) { return ops::linear(x[0], x[1].transpose(0, 1), {}, x[0]); }, {{{4, 3}}, {{3, 3}}}});
}

inline void add_view_cases(Cases& cases) {
  const auto add = [&](const std::string& name, const std::function<Tensor(const Tensor&)>& view, const Shape& shape) {
    cases.push_back({name, [view](Inputs x) { return view(x[0]); }, {{shape}}});
  };
  add("permute", [](const Tensor& x) { return x.permute({2, 0, 1}); }, {2, 3, 2});
  add("permute", [](const Tensor& x) { return x.permute({-1, 0, 2, 1}); }, {1, 3, 2, 2});
  add("transpose", [](const Tensor& x) { return x.transpose(0, -1); }, {2, 3, 2});
  add("view", [](const Tensor& x) { return x.view({3, -1}); }, {2, 6});
  add("reshape", [](const Tensor& x) { return x.transpose(0, 1).reshape({4, 3}); }, {2, 6});
  add("slice", [](const Tensor& x) { return x.slice(1, {.start = 1, .stop = -1, .step = 2}); }, {2, 7});
  add("slice", [](const Tensor& x) { return x.slice(0, {.start = 1}); }, {3, 2});
  add("select", [](const Tensor& x) { return x.select(1, -2); }, {2, 3, 2});
  add("select", [](const Tensor& x) { return x.select(0, 1); }, {3});
  add("expand", [](const Tensor& x) { return x.expand({2, 4, 3}); }, {4, 1});
  add("expand", [](const Tensor& x) { return x.expand({2, 3}); }, {});
  add("squeeze", [](const Tensor& x) { return x.squeeze(1); }, {2, 1, 3});
  add("unsqueeze", [](const Tensor& x) { return x.unsqueeze(-1); }, {2, 3});
  add("clone", [](const Tensor& x) { return x.clone(); }, {2, 3});
  add("contiguous", [](const Tensor& x) { return x.transpose(0, 1).contiguous(); }, {2, 3});
  // Through f32: coarse steps, because what is differentiated is rounded to 2^-24.
  for (const Shape& shape : {Shape{2, 3}, Shape{4}}) {
    cases.push_back({"to",
                     [](Inputs x) {
                       const DType other = x[0].dtype() == DType::kF64 ? DType::kF32 : DType::kF64;
                       return x[0].to(other).to(x[0].dtype());
                     },
                     {{shape}},
                     1e-2,
                     1e-4,
                     /*smooth=*/false});
  }
}

inline void add_index_cases(Cases& cases) {
  const std::vector<std::int32_t> ids{2, 0, 2, 3};
  const std::vector<std::int32_t> more_ids{1};
  cases.push_back({"embedding", [=](Inputs x) { return ops::embedding(x[0], ids); }, {{{4, 3}}}});
  cases.push_back({"embedding", [=](Inputs x) { return ops::embedding(x[0], more_ids); }, {{{2, 5}}}});
  const Tensor places = Tensor::from(std::vector<std::int64_t>{2, 0, 0, 1, 1, 1, 0, 2}, {2, 2, 2});
  for (const int dim : {0, 1, -1}) {
    const Shape shape{dim == 0 ? 3 : 2, dim == 1 ? 3 : 2, dim == -1 ? 3 : 2};
    cases.push_back({"gather", [=](Inputs x) { return ops::gather(x[0], dim, places); }, {{shape}}});
    cases.push_back({"scatter_add", [=](Inputs x) { return ops::scatter_add(x[0], dim, places, 4); }, {{{2, 2, 2}}}});
  }
  cases.push_back({"cat",
                   [](Inputs x) { return ops::cat(x, 1); },
                   {{{2, 1, 2}}, {{2, 3, 2}}, {{2, 1, 2}}, {{2, 0, 2}}, {{2, 2, 2}}}});
  cases.push_back({"cat", [](Inputs x) { return ops::cat(x, -1); }, {{{3}}, {{2}}}});
  cases.push_back({"stack", [](Inputs x) { return ops::stack(x, 1); }, {{{2, 3}}, {{2, 3}}}});
  cases.push_back({"stack", [](Inputs x) { return ops::stack(x, -1); }, {{{2}}, {{2}}, {{2}}}});
  cases.push_back({"slice_backward",
                   [](Inputs x) {
                     return ops::slice_backward(x[0], {2, 7}, 1, {.start = 1, .step = 3});
                   },
                   {{{2, 2}}}});
  cases.push_back({"slice_backward", [](Inputs x) { return ops::slice_backward(x[0], {3}, 0, {.stop = 1}); }, {{{1}}}});
}

inline void add_fused_cases(Cases& cases) {
  for (const Shape& shape : {Shape{3, 5}, Shape{2, 2, 3}, Shape{4}}) {
    cases.push_back({"softmax", [](Inputs x) { return ops::softmax(x[0]); }, {{shape}}});
    cases.push_back({"log_softmax", [](Inputs x) { return ops::log_softmax(x[0]); }, {{shape}}});
    const Shape width{shape[shape.dims() - 1]};
    const InputSpec weight{width, 0.5, 1.5};
    cases.push_back({"rms_norm", [](Inputs x) { return ops::rms_norm(x[0], x[1], 1e-3F); }, {{shape}, weight}});
    cases.push_back(
        {"layer_norm", [](Inputs x) { return ops::layer_norm(x[0], x[1], x[2], 1e-3F); }, {{shape}, weight, {width}}});
    cases.push_back({"layer_norm", [](Inputs x) { return ops::layer_norm(x[0], x[1], {}, 1e-3F); }, {{shape}, weight}});
  }
  cases.push_back({"rms_norm of a view",
                   [](Inputs x) { return ops::rms_norm(x[0].transpose(0, 1), x[1], 1e-3F); },
                   {{{3, 4}}, {{3}, 0.5, 1.5}}});
  cases.push_back({"silu_mul", [](Inputs x) { return ops::silu_mul(x[0]); }, {{{3, 6}}}});
  cases.push_back({"silu_mul", [](Inputs x) { return ops::silu_mul(x[0].slice(1, {.start = 1})); }, {{{2, 5}}}});
  const auto rope = [](const Tensor& x, std::int64_t heads, std::int64_t half) {
    const Tensor angles = random_tensor({x.size(0), half}, 9, x.dtype(), -3, 3);
    return ops::rope(x, heads, ops::cos(angles), ops::sin(angles));
  };
  cases.push_back({"rope", [=](Inputs x) { return rope(x[0] * 1.0, 2, 2); }, {{{3, 10}}}});
  cases.push_back({"rope", [=](Inputs x) { return rope(x[0], 1, 1); }, {{{2, 2}}}});
  const auto attention = [](const Tensor& qkv, const std::vector<std::int32_t>& begins, std::int64_t heads,
                            std::int64_t kv_heads) {
    return ops::causal_attention(
        qkv, begins, {.heads = heads, .kv_heads = kv_heads, .head_dim = qkv.size(1) / (heads + 2 * kv_heads)});
  };
  cases.push_back({"causal_attention", [=](Inputs x) { return attention(x[0], {0, 4}, 2, 1); }, {{{4, 8}}}});
  cases.push_back({"causal_attention", [=](Inputs x) { return attention(x[0], {0, 3, 3, 4}, 4, 2); }, {{{4, 8}}}});
  const std::vector<std::int32_t> targets{3, -1, 0};
  cases.push_back({"cross_entropy", [=](Inputs x) { return ops::cross_entropy(x[0], targets); }, {{{3, 5}}}});
  cases.push_back(
      {"cross_entropy", [](Inputs x) { return ops::cross_entropy(x[0], std::array<std::int32_t, 1>{1}); }, {{{1, 2}}}});
  for (const Shape& shape : {Shape{3, 5}, Shape{1, 2}}) {
    cases.push_back({"soft_cross_entropy",
                     [](Inputs x) {
                       const Tensor teacher = random_tensor(x[0].shape(), 8, x[0].dtype(), -2, 2);
                       return ops::soft_cross_entropy(x[0], ops::softmax(teacher));
                     },
                     {{shape}}});
  }
}

inline Cases differentiable_cases() {
  Cases cases;
  add_pointwise_cases(cases);
  add_reduction_cases(cases);
  add_matmul_cases(cases);
  add_view_cases(cases);
  add_index_cases(cases);
  add_fused_cases(cases);
  return cases;
}

}  // namespace minitorch::test
