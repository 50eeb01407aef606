// cross_entropy: -ln softmax(logits)[target] of rows, and its backward, without keeping the probabilities.
#pragma once

#include <cstdint>

namespace minitorch::kernels {

// logits [M, V] f32, targets [M] in [0, V) or negative for rows that do not count.
// loss [M]: ln sum exp(x - max) + max - x[target], 0 for rows that do not count.
// log_sum [M]: ln sum exp(x), for the backward pass and for measuring.
// Numerics as in SoftmaxArgs. Tolerance against `reference` (double): loss 4e-6 * max(1, |max - x[target]|), log_sum
// 4e-6 * max(1, |log_sum|).
struct CrossEntropyArgs {
  const float* logits = nullptr;
  std::int64_t logits_stride = 0;
  const std::int32_t* targets = nullptr;
  float* loss = nullptr;
  float* log_sum = nullptr;
  std::int64_t rows = 0;  // M
  std::int64_t cols = 0;  // V
};

// dlogits [M, V] = scale[m] * (softmax(logits[m]) - onehot(targets[m])), zeros for rows that do not count; dlogits may
// be logits. scale [M]: the gradients of the rows' losses.
// Tolerance against `reference` (double): 1e-5 relative + 1e-37, at the target besides 1e-6 * |scale|.
struct CrossEntropyBackwardArgs {
  const float* logits = nullptr;
  std::int64_t logits_stride = 0;
  const std::int32_t* targets = nullptr;
  const float* log_sum = nullptr;
  const float* scale = nullptr;
  float* dlogits = nullptr;
  std::int64_t dlogits_stride = 0;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};

}  // namespace minitorch::kernels
