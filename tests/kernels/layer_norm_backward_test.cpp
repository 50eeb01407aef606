// layer_norm_backward: conformance with the reference, missing results, threads, writing over dy.
#include "kernels/ops/layer_norm.h"

#include "tests/kernels/norm_backward_support.h"

namespace minitorch::test {
namespace {

using kernels::KernelTable;
using kernels::LayerNormBackwardArgs;

// The statistics of the forward pass, by the reference.
struct Statistics {
  explicit Statistics(const NormInputs& in) : mean(in.x.rows()), inverse(in.x.rows()) {
    GuardedRows<float> y(in.x.rows(), in.x.cols());
    kernels::reference_table().layer_norm({.pool = pool_of(1)}, {.x = in.x.data(),
                                                                 .x_stride = in.x.stride(),
                                                                 .weight = in.weight.data(),
                                                                 .y = y.data(),
                                                                 .y_stride = y.stride(),
                                                                 .mean = mean.data(),
                                                                 .inverse_deviation = inverse.data(),
                                                                 .rows = in.x.rows(),
                                                                 .cols = in.x.cols(),
                                                                 .eps = 1e-2f});
  }
  std::vector<float> mean, inverse;
};

LayerNormBackwardArgs args_of(const NormInputs& in, const Statistics& statistics, NormGradients& out) {
  return {.x = in.x.data(),
          .x_stride = in.x.stride(),
          .weight = in.weight.data(),
          .mean = statistics.mean.data(),
          .inverse_deviation = statistics.inverse.data(),
          .dy = in.dy.data(),
          .dy_stride = in.dy.stride(),
          .dx = out.dx.data(),
          .dx_stride = out.dx.stride(),
          .dweight = out.dweight.data(),
          .dbias = out.dbias.data(),
          .rows = in.x.rows(),
          .cols = in.x.cols()};
}

struct Run {
  NormGradients operator()(const KernelTable& table, const NormInputs& in, int threads) const {
    NormGradients out(in.x.rows(), in.x.cols());
    table.layer_norm_backward({.pool = pool_of(threads)}, args_of(in, Statistics(in), out));
    return out;
  }
  [[nodiscard]] NormGradients in_place(const KernelTable& table, const NormInputs& in, int threads) const {
    NormGradients out(in.x.rows(), in.x.cols());
    const Statistics statistics(in);
    out.dx = copy_of(in.dy);
    LayerNormBackwardArgs args = args_of(in, statistics, out);
    args.dy = out.dx.data();
    args.dy_stride = out.dx.stride();
    table.layer_norm_backward({.pool = pool_of(threads)}, args);
    return out;
  }
};

TEST_CASE("layer_norm_backward conforms to the reference for every width and number of rows") {
  check_norm_backward_conforms("layer_norm_backward", Run());
}

TEST_CASE("layer_norm_backward gives the same bits for every number of threads and over dy") {
  check_norm_backward_threads("layer_norm_backward", Run());
}

TEST_CASE("layer_norm_backward computes only what is asked for") {
  PhiloxStream random(3);
  const NormInputs inputs(70, 33, random);
  const Statistics statistics(inputs);
  on_every_table("layer_norm_backward", [&](const KernelTable& table) {
    const NormGradients all = Run()(table, inputs, 1);
    for (const int wanted : {0, 1, 2}) {
      CAPTURE(wanted);
      NormGradients one(70, 33);
      LayerNormBackwardArgs args = args_of(inputs, statistics, one);
      if (wanted != 0) args.dx = nullptr;
      if (wanted != 1) args.dweight = nullptr;
      if (wanted != 2) args.dbias = nullptr;
      table.layer_norm_backward({.pool = pool_of(1)}, args);
      CHECK(same_rows(one.dx, all.dx) == (wanted == 0));
      CHECK(same_rows(one.dweight, all.dweight) == (wanted == 1));
      CHECK(same_rows(one.dbias, all.dbias) == (wanted == 2));
    }
  });
}

TEST_CASE("layer_norm_backward gives dx without mean and without a part along the normalised row, and passes NaN on") {
  PhiloxStream random(4);
  NormInputs inputs(2, 100, random);
  inputs.dy.row(1)[99] = std::nanf("");
  on_every_table("layer_norm_backward", [&](const KernelTable& table) {
    const NormGradients out = Run()(table, inputs, 1);
    const Statistics statistics(inputs);
    double sum = 0.0;
    for (std::int64_t c = 0; c < 100; ++c) sum += out.dx.row(0)[c];
    CHECK(std::abs(sum) < 1e-4);
    CHECK(std::isnan(out.dx.row(1)[0]));
    CHECK(std::isnan(out.dbias.data()[99]));
    CHECK(std::isfinite(out.dbias.data()[0]));
  });
}

}  // namespace
}  // namespace minitorch::test
