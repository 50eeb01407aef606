// grad_check: central differences against the backward pass.
#include "minitorch/autograd/grad_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "minitorch/autograd/backward.h"
#include "minitorch/base/check.h"
#include "minitorch/base/philox.h"
#include "minitorch/core/execution_scope.h"
#include "minitorch/ops/pointwise.h"
#include "minitorch/ops/reduce.h"

namespace minitorch::autograd {
namespace {

using Function = std::function<Tensor(std::span<const Tensor>)>;

// Copies of their own, so that elements can be changed in place.
std::vector<Tensor> copies_of(const std::vector<Tensor>& inputs) {
  const NoGradGuard unrecorded;
  std::vector<Tensor> copies;
  for (const Tensor& input : inputs) {
    const bool checked = input.requires_grad();
    MT_CHECK_AS(DTypeError, !checked || input.dtype() == DType::kF64,
                "grad_check: expected inputs of dtype f64, got {}", name_of(input.dtype()));
    copies.push_back(input.clone());
    copies.back().requires_grad_(checked);
  }
  return copies;
}

// Weights of both signs, away from 0.
Tensor weights_for(const Tensor& output) {
  PhiloxStream random(20260101);
  const Tensor weights = Tensor::empty(output.shape(), DType::kF64);
  for (std::int64_t i = 0; i < weights.numel(); ++i) {
    const double size = 0.5 + double{random.uniform()};
    weights.data<double>()[i] = random.below(2) == 0 ? size : -size;
  }
  return weights;
}

double weighted_sum(const Function& function, const std::vector<Tensor>& inputs, const Tensor& weights) {
  return ops::sum(ops::mul(function(inputs), weights)).item();
}

double central_difference(const Function& function, const std::vector<Tensor>& inputs, const Tensor& weights,
                          double& element, double step) {
  const double centre = element;
  element = centre + step;
  const double above = weighted_sum(function, inputs, weights);
  const double upper = element;
  element = centre - step;
  const double below = weighted_sum(function, inputs, weights);
  const double distance = upper - element;  // as rounded
  element = centre;
  return (above - below) / distance;
}

}  // namespace

std::string grad_check(const std::function<Tensor(std::span<const Tensor>)>& function,
                       const std::vector<Tensor>& inputs, const GradCheckOptions& options) {
  const std::vector<Tensor> leaves = copies_of(inputs);
  const GradMode recorded(true);
  const Tensor output = function(leaves);
  MT_CHECK_AS(DTypeError, output.dtype() == DType::kF64, "grad_check: expected an output of dtype f64, got {}",
              name_of(output.dtype()));
  if (!output.requires_grad()) return "the output requires no gradient";
  const Tensor weights = weights_for(output);
  backward(output, weights);

  const NoGradGuard unrecorded;
  for (std::size_t input = 0; input < leaves.size(); ++input) {
    const Tensor& leaf = leaves[input];
    if (!leaf.requires_grad()) continue;
    const Tensor given = leaf.grad();
    const std::vector<double> gradient =
        given.defined() ? given.to_vector() : std::vector<double>(static_cast<std::size_t>(leaf.numel()), 0.0);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      double& element = leaf.data<double>()[i];
      const double expected = central_difference(function, leaves, weights, element, options.step);
      // Relative to the smaller one: an infinite value must not excuse itself.
      const double bound = options.tolerance * std::max(1.0, std::min(std::abs(gradient[i]), std::abs(expected)));
      if (!(std::abs(gradient[i] - expected) <= bound)) {
        return fmt::format("input {}, element {}: gradient {:.12g}, differences give {:.12g}", input, i, gradient[i],
                           expected);
      }
    }
  }
  return "";
}

}  // namespace minitorch::autograd
