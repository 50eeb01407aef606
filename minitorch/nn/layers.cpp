// The layers of a decoder as modules.
#include "minitorch/nn/layers.h"

#include <fmt/format.h>

#include <cmath>

#include "minitorch/base/check.h"
#include "minitorch/nn/init.h"
#include "minitorch/ops/fused.h"
#include "minitorch/ops/index.h"
#include "minitorch/ops/matmul.h"

namespace minitorch::nn {
namespace {

Tensor uniform_parameter(const Shape& shape, double bound, PhiloxStream& random) {
  Tensor result = Tensor::empty(shape);
  fill_uniform(result, -bound, bound, random);
  return result;
}

double linear_bound(std::int64_t in, std::int64_t out) {
  MT_CHECK(in > 0 && out > 0, "Linear: expected at least one input and output, got {} and {}", in, out);
  return 1.0 / std::sqrt(static_cast<double>(in));
}

Tensor normal_parameter(std::int64_t num, std::int64_t dim, PhiloxStream& random) {
  MT_CHECK(num > 0 && dim > 0, "Embedding: expected at least one row and column, got {} and {}", num, dim);
  Tensor result = Tensor::empty({num, dim});
  fill_normal(result, 0.0, 1.0, random);
  return result;
}

Tensor constant_parameter(std::int64_t dim, double value) {
  MT_CHECK(dim > 0, "norm: expected at least one column, got {}", dim);
  return Tensor::full({dim}, value);
}

}  // namespace

Linear::Linear(std::int64_t in, std::int64_t out, PhiloxStream& random, bool with_bias) {
  const double bound = linear_bound(in, out);
  weight_ = register_parameter("weight", uniform_parameter({out, in}, bound, random));
  if (with_bias) bias_ = register_parameter("bias", uniform_parameter({out}, bound, random));
}

Tensor Linear::forward(const Tensor& x) const { return ops::linear(x, weight_, bias_); }

std::string Linear::describe() const {
  return fmt::format("in={}, out={}{}", weight_.size(1), weight_.size(0), bias_.defined() ? "" : ", no bias");
}

Embedding::Embedding(std::int64_t num, std::int64_t dim, PhiloxStream& random)
    : weight_(register_parameter("weight", normal_parameter(num, dim, random))) {}

Tensor Embedding::forward(std::span<const std::int32_t> ids) const { return ops::embedding(weight_, ids); }

std::string Embedding::describe() const { return fmt::format("num={}, dim={}", weight_.size(0), weight_.size(1)); }

RMSNorm::RMSNorm(std::int64_t dim, float eps)
    : weight_(register_parameter("weight", constant_parameter(dim, 1.0))), eps_(eps) {}

Tensor RMSNorm::forward(const Tensor& x) const { return ops::rms_norm(x, weight_, eps_); }

std::string RMSNorm::describe() const { return fmt::format("dim={}, eps={}", weight_.size(0), eps_); }

LayerNorm::LayerNorm(std::int64_t dim, float eps)
    : weight_(register_parameter("weight", constant_parameter(dim, 1.0))),
      bias_(register_parameter("bias", constant_parameter(dim, 0.0))),
      eps_(eps) {}

Tensor LayerNorm::forward(const Tensor& x) const { return ops::layer_norm(x, weight_, bias_, eps_); }

std::string LayerNorm::describe() const { return fmt::format("dim={}, eps={}", weight_.size(0), eps_); }

}  // namespace minitorch::nn
