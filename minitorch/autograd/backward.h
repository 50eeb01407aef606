// backward: gradients of a tensor with respect to the leaves it was computed from.
#pragma once

#include "minitorch/core/tensor.h"

namespace minitorch::autograd {

struct BackwardOptions {
  bool retain_graph = false;  // keep what was saved, so that the graph can be walked again
  // Record the backward pass itself, for second derivatives; implies retain_graph. Then grad() of a leaf has a history
  // that ends in that leaf: take it and call set_grad({}), or the two keep each other alive.
  bool create_graph = false;
};

// Adds d(sum of output * gradient)/d(leaf) to grad() of every leaf that requires a gradient. `gradient` has the
// output's shape; undefined stands for 1, for an output of one element. Nodes run when all their consumers have, in an
// order fixed by the graph; nothing is recursive, so depth is limited by memory alone. Throws Error when the output
// requires no gradient or its graph was freed by an earlier pass; after an exception some leaves may already have
// received their part.
void backward(const Tensor& output, const Tensor& gradient = {}, const BackwardOptions& options = {});

}  // namespace minitorch::autograd
