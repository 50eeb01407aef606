// causal_attention_backward against differences of the forward pass. (Its conformance is tested with causal_attention.)
#include <doctest/doctest.h>

#include "tests/kernels/causal_attention_support.h"

namespace minitorch::test {
namespace {

using namespace causal;

// The loss whose gradient the backward computes: the sum of dout * out, with `out` from the reference.
double loss(const CausalData& data) {
  const GuardedRows<float> out = run_forward(kernels::reference_table(), data, 1);
  double sum = 0.0;
  for (std::int64_t i = 0; i < out.rows(); ++i) {
    for (std::int64_t j = 0; j < out.cols(); ++j) sum += static_cast<double>(out.row(i)[j]) * data.dout.row(i)[j];
  }
  return sum;
}

TEST_CASE("the backward of causal attention agrees with central differences of the reference") {
  PhiloxStream random(7);
  CausalData data({5, 2, 2, {7, 1, 4}}, random);
  GuardedRows<float> slopes(12, data.qkv.cols());
  for (std::int64_t i = 0; i < 12; ++i) {
    for (std::int64_t j = 0; j < data.qkv.cols(); ++j) {
      float& value = data.qkv.row(i)[j];
      const float middle = value;
      const float high = middle + 0x1p-6f, low = middle - 0x1p-6f;
      value = high;
      const double above = loss(data);
      value = low;
      const double below = loss(data);
      value = middle;
      slopes.row(i)[j] = static_cast<float>((above - below) / (static_cast<double>(high) - low));
    }
  }
  on_every_table("causal_attention_backward", [&](const KernelTable& table) {
    const Gradients out = run_backward(table, data, 1);
    double error = 0.0;
    for (std::int64_t i = 0; i < 12; ++i) {
      const float* slope = slopes.row(i);
      for (std::int64_t j = 0; j < 20; ++j) error = std::max(error, magnitude(out.dq.row(i)[j] - slope[j]));
      for (std::int64_t j = 0; j < 10; ++j) {
        error = std::max(error, magnitude(out.dk.row(i)[j] - slope[20 + j]));
        error = std::max(error, magnitude(out.dv.row(i)[j] - slope[30 + j]));
      }
    }
    // A step of 1/64 costs h^2 / 6 of the third derivative, and the rounding of `out` 2^-25 / h of each of its terms.
    CHECK(error < 2e-4);
  });
}

}  // namespace
}  // namespace minitorch::test
