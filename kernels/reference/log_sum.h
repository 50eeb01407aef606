// The logarithm of a sum of exponentials, for softmax and cross_entropy.
#pragma once

#include <cmath>  // std::exp, std::log
#include <cstdint>

namespace minitorch::kernels::reference {

// The maximum of a row and ln sum exp(x - max), which are not added: the maximum may be far larger. The logarithm is
// NaN for a row that holds a NaN or +inf, and for a row of -inf.
struct LogSum {
  double max = -HUGE_VAL;
  double log_sum = 0.0;
};

inline LogSum log_sum_exp(const float* x, std::int64_t count) {
  LogSum result;
  for (std::int64_t c = 0; c < count; ++c) result.max = x[c] > result.max ? x[c] : result.max;
  double sum = 0.0;
  for (std::int64_t c = 0; c < count; ++c) sum += std::exp(x[c] - result.max);
  result.log_sum = std::log(sum);
  return result;
}

}  // namespace minitorch::kernels::reference
