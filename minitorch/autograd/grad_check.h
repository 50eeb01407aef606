// grad_check: compares gradients with central differences, in f64, over every element of every input.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "minitorch/core/tensor.h"

namespace minitorch::autograd {

struct GradCheckOptions {
  double step = 1e-5;
  double tolerance = 1e-6;  // of |difference| / max(1, |gradient|)
};

// `function` maps the inputs (f64; those that require a gradient are checked) to a tensor of any shape; the scalar that
// is differentiated is its sum with fixed pseudo-random weights, so that no two elements can cancel. Returns an empty
// text when all agree, else what differs: input, element, both values.
[[nodiscard]] std::string grad_check(const std::function<Tensor(std::span<const Tensor>)>& function,
                                     const std::vector<Tensor>& inputs, const GradCheckOptions& options = {});

}  // namespace minitorch::autograd
