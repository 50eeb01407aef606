// Initial values of parameters, from a counter-based stream: the same on every machine.
#pragma once

#include "minitorch/base/philox.h"
#include "minitorch/core/tensor.h"

namespace minitorch::nn {

// Fills a contiguous f32 tensor with normal values (Box & Muller 1958, in double) or uniform ones in [low, high).
void fill_normal(const Tensor& x, double mean, double deviation, PhiloxStream& random);
void fill_uniform(const Tensor& x, double low, double high, PhiloxStream& random);

}  // namespace minitorch::nn
