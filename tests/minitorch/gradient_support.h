// Tensors and comparisons for the tests of ops and gradients.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "minitorch/base/philox.h"
#include "minitorch/core/tensor.h"

namespace minitorch::test {

using Values = std::vector<double>;

// Uniform in [low, high).
inline Tensor random_tensor(const Shape& shape, std::uint64_t seed, DType dtype = DType::kF32, double low = -1.0,
                            double high = 1.0) {
  PhiloxStream random(seed);
  const Tensor values = Tensor::empty(shape, DType::kF64);
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    values.data<double>()[i] = low + (high - low) * double{random.uniform()};
  }
  return values.to(DType::kF32).to(dtype);  // the same values in both types
}

inline Tensor leaf(const Tensor& values) {
  Tensor result = values.detach().clone();
  result.requires_grad_();
  return result;
}

inline Tensor tensor_of(const std::vector<double>& values, const Shape& shape, DType dtype = DType::kF32) {
  return Tensor::from(values, shape).to(dtype);
}

// The largest |a - b| over max(1, |b|) of equally shaped tensors.
inline double distance(const Tensor& a, const Tensor& b) {
  REQUIRE(a.shape() == b.shape());
  const Values first = a.to_vector();
  const Values second = b.to_vector();
  double largest = 0.0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double difference = std::abs(first[i] - second[i]) / std::max(1.0, std::abs(second[i]));
    if (!(difference <= largest)) largest = difference;  // also keeps a NaN
  }
  return largest;
}

}  // namespace minitorch::test
