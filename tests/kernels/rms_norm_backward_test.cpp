// rms_norm_backward: conformance with the reference, missing results, threads, writing over dy.
#include "kernels/ops/rms_norm.h"

#include "tests/kernels/norm_backward_support.h"

namespace minitorch::test {
namespace {

using kernels::KernelTable;
using kernels::RmsNormBackwardArgs;

RmsNormBackwardArgs args_of(const NormInputs& in, NormGradients& out) {
  return {.x = in.x.data(),
          .x_stride = in.x.stride(),
          .weight = in.weight.data(),
          .dy = in.dy.data(),
          .dy_stride = in.dy.stride(),
          .dx = out.dx.data(),
          .dx_stride = out.dx.stride(),
          .dweight = out.dweight.data(),
          .rows = in.x.rows(),
          .cols = in.x.cols(),
          .eps = 1e-5f};
}

struct Run {
  NormGradients operator()(const KernelTable& table, const NormInputs& in, int threads) const {
    NormGradients out(in.x.rows(), in.x.cols());
    table.rms_norm_backward({.pool = pool_of(threads)}, args_of(in, out));
    return out;
  }
  [[nodiscard]] NormGradients in_place(const KernelTable& table, const NormInputs& in, int threads) const {
    NormGradients out(in.x.rows(), in.x.cols());
    out.dx = copy_of(in.dy);
    RmsNormBackwardArgs args = args_of(in, out);
    args.dy = out.dx.data();
    args.dy_stride = out.dx.stride();
    table.rms_norm_backward({.pool = pool_of(threads)}, args);
    return out;
  }
};

TEST_CASE("rms_norm_backward conforms to the reference for every width and number of rows") {
  check_norm_backward_conforms("rms_norm_backward", Run());
}

TEST_CASE("rms_norm_backward gives the same bits for every number of threads and over dy") {
  check_norm_backward_threads("rms_norm_backward", Run());
}

TEST_CASE("rms_norm_backward computes only what is asked for") {
  PhiloxStream random(3);
  const NormInputs inputs(70, 33, random);
  on_every_table("rms_norm_backward", [&](const KernelTable& table) {
    const NormGradients both = Run()(table, inputs, 1);
    NormGradients one(70, 33);
    RmsNormBackwardArgs args = args_of(inputs, one);
    args.dweight = nullptr;
    table.rms_norm_backward({.pool = pool_of(1)}, args);
    CHECK(same_rows(one.dx, both.dx));
    args = args_of(inputs, one);
    args.dx = nullptr;
    table.rms_norm_backward({.pool = pool_of(1)}, args);
    CHECK(same_rows(one.dweight, both.dweight));
  });
}

TEST_CASE("rms_norm_backward agrees with differences of rms_norm, and a NaN stays in its row of dx") {
  PhiloxStream random(4);
  NormInputs inputs(2, 24, random);
  const auto loss = [&](std::int64_t c, float change) {  // sum of y dy in row 0, in double
    double squares = 0.0;
    for (std::int64_t i = 0; i < 24; ++i) squares += std::pow(inputs.x.row(0)[i] + (i == c ? change : 0.0f), 2.0);
    const double inverse = 1.0 / std::sqrt(squares / 24 + 1e-5f);
    double sum = 0.0;
    for (std::int64_t i = 0; i < 24; ++i) {
      sum += (inputs.x.row(0)[i] + (i == c ? change : 0.0f)) * inverse * inputs.weight.data()[i] * inputs.dy.row(0)[i];
    }
    return sum;
  };
  const double slope = (loss(5, 0.001f) - loss(5, -0.001f)) / (0.001f * 2.0);
  inputs.x.row(1)[3] = std::nanf("");
  on_every_table("rms_norm_backward", [&](const KernelTable& table) {
    const NormGradients out = Run()(table, inputs, 1);
    CHECK(out.dx.row(0)[5] == doctest::Approx(slope).epsilon(1e-4));
    CHECK(std::isnan(out.dx.row(1)[0]));
  });
}

}  // namespace
}  // namespace minitorch::test
