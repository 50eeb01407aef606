// The layers of a decoder as modules: Linear, Embedding, RMSNorm, LayerNorm.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "minitorch/base/philox.h"
#include "minitorch/nn/module.h"

namespace minitorch::nn {

// x [..., in] -> x W^T + b as [..., out]; weight [out, in] starts uniform in +-1/sqrt(in), as does bias (PyTorch's
// default).
class Linear final : public Module {
 public:
  Linear(std::int64_t in, std::int64_t out, PhiloxStream& random, bool with_bias = true);
  [[nodiscard]] Tensor forward(const Tensor& x) const;
  [[nodiscard]] const Tensor& weight() const { return weight_; }
  [[nodiscard]] const Tensor& bias() const { return bias_; }

 protected:
  [[nodiscard]] std::string describe() const override;
  [[nodiscard]] std::string_view kind() const override { return "Linear"; }

 private:
  Tensor weight_;
  Tensor bias_;
};

// ids [M] -> rows of weight [num, dim], which starts normal(0, 1).
class Embedding final : public Module {
 public:
  Embedding(std::int64_t num, std::int64_t dim, PhiloxStream& random);
  [[nodiscard]] Tensor forward(std::span<const std::int32_t> ids) const;
  [[nodiscard]] const Tensor& weight() const { return weight_; }

 protected:
  [[nodiscard]] std::string describe() const override;
  [[nodiscard]] std::string_view kind() const override { return "Embedding"; }

 private:
  Tensor weight_;
};

// Over the last dimension; weight starts at 1.
class RMSNorm final : public Module {
 public:
  explicit RMSNorm(std::int64_t dim, float eps = 1e-6f);
  [[nodiscard]] Tensor forward(const Tensor& x) const;

 protected:
  [[nodiscard]] std::string describe() const override;
  [[nodiscard]] std::string_view kind() const override { return "RMSNorm"; }

 private:
  Tensor weight_;
  float eps_;
};

// Over the last dimension; weight starts at 1, bias at 0.
class LayerNorm final : public Module {
 public:
  explicit LayerNorm(std::int64_t dim, float eps = 1e-5f);
  [[nodiscard]] Tensor forward(const Tensor& x) const;

 protected:
  [[nodiscard]] std::string describe() const override;
  [[nodiscard]] std::string_view kind() const override { return "LayerNorm"; }

 private:
  Tensor weight_;
  Tensor bias_;
  float eps_;
};

}  // namespace minitorch::nn
