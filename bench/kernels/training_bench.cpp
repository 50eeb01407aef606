// The kernels of a training step but the products and attention, at its shapes: 4096 rows, C 256, F 704, V 2048.
//   bench_kernels --benchmark_filter=train
#include "bench/kernels/support.h"

namespace minitorch::bench {
namespace {

constexpr std::int64_t kRows = 4096;
constexpr std::int64_t kWidth = 256;
constexpr std::int64_t kHidden = 704;
constexpr std::int64_t kVocabulary = 2048;

const kernels::KernelTable& table() { return kernels::best_cpu_table(); }
kernels::Context context() { return {.pool = pool()}; }

// A matrix of the step; its elements lie in [-1, 1).
std::vector<float> matrix(std::int64_t cols, std::uint64_t seed) {
  return random_floats(static_cast<std::size_t>(kRows * cols), seed);
}

std::vector<std::int32_t> random_ids() {
  PhiloxStream random(9);
  std::vector<std::int32_t> ids(kRows);
  for (std::int32_t& id : ids) id = static_cast<std::int32_t>(random.below(kVocabulary));
  return ids;
}

// Times `step`, which reads and writes `floats` numbers.
template <typename Step>
void measure(benchmark::State& state, std::int64_t floats, const Step& step) {
  for (auto _ : state) {
    step();
    benchmark::ClobberMemory();
  }
  set_rates(state, 4.0 * static_cast<double>(floats), 0.0);
}

#define MT_TRAINING_BENCH(name) BENCHMARK(name)->UseRealTime()->Unit(benchmark::kMicrosecond)

void train_cross_entropy(benchmark::State& state) {
  const std::vector<float> logits = matrix(kVocabulary, 1);
  const std::vector<std::int32_t> targets = random_ids();
  std::vector<float> loss(kRows), log_sum(kRows);
  measure(state, kRows * kVocabulary, [&] {
    table().cross_entropy(context(), {.logits = logits.data(),
                                      .logits_stride = kVocabulary,
                                      .targets = targets.data(),
                                      .loss = loss.data(),
                                      .log_sum = log_sum.data(),
                                      .rows = kRows,
                                      .cols = kVocabulary});
  });
}
MT_TRAINING_BENCH(train_cross_entropy);

void train_cross_entropy_backward(benchmark::State& state) {
  const std::vector<float> logits = matrix(kVocabulary, 1);
  std::vector<float> dlogits(logits.size());
  const std::vector<std::int32_t> targets = random_ids();
  const std::vector<float> log_sum(kRows, 8.0f), scale(kRows, 1.0f);
  measure(state, 2 * kRows * kVocabulary, [&] {
    table().cross_entropy_backward(context(), {.logits = logits.data(),
                                               .logits_stride = kVocabulary,
                                               .targets = targets.data(),
                                               .log_sum = log_sum.data(),
                                               .scale = scale.data(),
                                               .dlogits = dlogits.data(),
                                               .dlogits_stride = kVocabulary,
                                               .rows = kRows,
                                               .cols = kVocabulary});
  });
}
MT_TRAINING_BENCH(train_cross_entropy_backward);

void train_softmax(benchmark::State& state) {
  const std::vector<float> x = matrix(kVocabulary, 1);
  std::vector<float> y(x.size());
  measure(state, 2 * kRows * kVocabulary, [&] {
    table().softmax(context(), {.x = x.data(),
                                .x_stride = kVocabulary,
                                .y = y.data(),
                                .y_stride = kVocabulary,
                                .rows = kRows,
                                .cols = kVocabulary});
  });
}
MT_TRAINING_BENCH(train_softmax);

void train_rms_norm_backward(benchmark::State& state) {
  const std::vector<float> x = matrix(kWidth, 1), dy = matrix(kWidth, 2), weight = random_floats(kWidth, 3);
  std::vector<float> dx(x.size()), dweight(kWidth);
  measure(state, 3 * kRows * kWidth, [&] {
    table().rms_norm_backward(context(), {.x = x.data(),
                                          .x_stride = kWidth,
                                          .weight = weight.data(),
                                          .dy = dy.data(),
                                          .dy_stride = kWidth,
                                          .dx = dx.data(),
                                          .dx_stride = kWidth,
                                          .dweight = dweight.data(),
                                          .rows = kRows,
                                          .cols = kWidth,
                                          .eps = 1e-6f});
  });
}
MT_TRAINING_BENCH(train_rms_norm_backward);

void train_layer_norm(benchmark::State& state) {
  const std::vector<float> x = matrix(kWidth, 1), weight = random_floats(kWidth, 3);
  std::vector<float> y(x.size());
  measure(state, 2 * kRows * kWidth, [&] {
    table().layer_norm(context(), {.x = x.data(),
                                   .x_stride = kWidth,
                                   .weight = weight.data(),
                                   .y = y.data(),
                                   .y_stride = kWidth,
                                   .rows = kRows,
                                   .cols = kWidth,
                                   .eps = 1e-6f});
  });
}
MT_TRAINING_BENCH(train_layer_norm);

void train_layer_norm_backward(benchmark::State& state) {
  const std::vector<float> x = matrix(kWidth, 1), dy = matrix(kWidth, 2), weight = random_floats(kWidth, 3);
  const std::vector<float> mean(kRows, 0.1f), inverse(kRows, 1.5f);
  std::vector<float> dx(x.size()), dweight(kWidth), dbias(kWidth);
  measure(state, 3 * kRows * kWidth, [&] {
    table().layer_norm_backward(context(), {.x = x.data(),
                                            .x_stride = kWidth,
                                            .weight = weight.data(),
                                            .mean = mean.data(),
                                            .inverse_deviation = inverse.data(),
                                            .dy = dy.data(),
                                            .dy_stride = kWidth,
                                            .dx = dx.data(),
                                            .dx_stride = kWidth,
                                            .dweight = dweight.data(),
                                            .dbias = dbias.data(),
                                            .rows = kRows,
                                            .cols = kWidth});
  });
}
MT_TRAINING_BENCH(train_layer_norm_backward);

void train_silu_mul_backward(benchmark::State& state) {
  const std::vector<float> gate_up = matrix(2 * kHidden, 1), dout = matrix(kHidden, 2);
  std::vector<float> gradient(gate_up.size());
  measure(state, 5 * kRows * kHidden, [&] {
    table().silu_mul_backward(context(), {.gate = gate_up.data(),
                                          .gate_stride = 2 * kHidden,
                                          .up = gate_up.data() + kHidden,
                                          .up_stride = 2 * kHidden,
                                          .dout = dout.data(),
                                          .dout_stride = kHidden,
                                          .dgate = gradient.data(),
                                          .dgate_stride = 2 * kHidden,
                                          .dup = gradient.data() + kHidden,
                                          .dup_stride = 2 * kHidden,
                                          .rows = kRows,
                                          .cols = kHidden});
  });
}
MT_TRAINING_BENCH(train_silu_mul_backward);

void train_add_rows(benchmark::State& state) {
  const std::vector<float> x = matrix(kWidth, 1);
  std::vector<float> gradient(kVocabulary * kWidth);
  const std::vector<std::int32_t> ids = random_ids();
  measure(state, 3 * kRows * kWidth, [&] {
    table().add_rows(context(), {.table = gradient.data(),
                                 .table_stride = kWidth,
                                 .ids = ids.data(),
                                 .x = x.data(),
                                 .x_stride = kWidth,
                                 .rows = kRows,
                                 .cols = kWidth});
  });
}
MT_TRAINING_BENCH(train_add_rows);

void train_adamw(benchmark::State& state) {
  constexpr std::int64_t kParameters = 4'000'000;
  std::vector<float> parameter = random_floats(kParameters, 1), m(kParameters), v(kParameters, 0.1f);
  const std::vector<float> grad = random_floats(kParameters, 2);
  measure(state, 7 * kParameters, [&] {
    table().adamw(context(), {.parameter = parameter.data(),
                              .grad = grad.data(),
                              .m = m.data(),
                              .v = v.data(),
                              .count = kParameters,
                              .lr = 1e-3f,
                              .weight_decay = 0.1f});
  });
}
MT_TRAINING_BENCH(train_adamw);

void train_map(benchmark::State& state, kernels::UnaryOp op) {
  const std::vector<float> x = matrix(kHidden, 1);
  std::vector<float> out(x.size());
  measure(state, 2 * kRows * kHidden, [&] {
    table().map(context(), {.op = op,
                            .dims = 1,
                            .shape = {kRows * kHidden},
                            .x = x.data(),
                            .x_strides = {1},
                            .out = out.data(),
                            .out_strides = {1}});
  });
}
#define MT_UNARY(name, Functor) \
  BENCHMARK_CAPTURE(train_map, name, kernels::UnaryOp::k##Functor)->UseRealTime()->Unit(benchmark::kMicrosecond);
#define MT_BINARY(name, Functor)
#define MT_COMPARE(name, Functor)
#include "kernels/pointwise.def"
#undef MT_UNARY
#undef MT_BINARY
#undef MT_COMPARE

// b as it is, as one row for all (bias), and as one column (a factor per row).
void train_zip(benchmark::State& state, kernels::BinaryOp op, std::int64_t row_stride, std::int64_t step) {
  const std::vector<float> a = matrix(kHidden, 1), b = matrix(kHidden, 2);
  std::vector<float> out(a.size());
  measure(state, (2 + (row_stride != 0 && step != 0 ? 1 : 0)) * kRows * kHidden, [&] {
    table().zip(context(), {.op = op,
                            .dims = 2,
                            .shape = {kRows, kHidden},
                            .a = a.data(),
                            .a_strides = {kHidden, 1},
                            .b = b.data(),
                            .b_strides = {row_stride, step},
                            .out = out.data(),
                            .out_strides = {kHidden, 1}});
  });
}
#define MT_ZIP_BENCH(name, ...) \
  BENCHMARK_CAPTURE(train_zip, name, __VA_ARGS__)->UseRealTime()->Unit(benchmark::kMicrosecond)
MT_ZIP_BENCH(add, kernels::BinaryOp::kAdd, kHidden, 1);
MT_ZIP_BENCH(add_row, kernels::BinaryOp::kAdd, 0, 1);
MT_ZIP_BENCH(mul_column, kernels::BinaryOp::kMul, 1, 0);
MT_ZIP_BENCH(maximum, kernels::BinaryOp::kMaximum, kHidden, 1);
MT_ZIP_BENCH(lt, kernels::BinaryOp::kLt, kHidden, 1);

void train_reduce(benchmark::State& state, kernels::ReduceOp op, bool over_rows, bool all) {
  const std::vector<float> x = matrix(kHidden, 1);
  std::vector<float> out(kRows);
  measure(state, kRows * kHidden, [&] {
    table().reduce(context(), {.op = op,
                               .kept_dims = all ? 0 : 1,
                               .reduced_dims = all ? 2 : 1,
                               .shape = {over_rows ? kHidden : kRows, over_rows ? kRows : kHidden},
                               .x = x.data(),
                               .x_strides = {over_rows ? 1 : kHidden, over_rows ? kHidden : 1},
                               .out = out.data()});
  });
}
#define MT_REDUCE_BENCH(name, ...) \
  BENCHMARK_CAPTURE(train_reduce, name, __VA_ARGS__)->UseRealTime()->Unit(benchmark::kMicrosecond)
MT_REDUCE_BENCH(sum_of_rows, kernels::ReduceOp::kSum, false, false);
MT_REDUCE_BENCH(sum_of_columns, kernels::ReduceOp::kSum, true, false);
MT_REDUCE_BENCH(sum_of_all, kernels::ReduceOp::kSum, false, true);
MT_REDUCE_BENCH(max_of_rows, kernels::ReduceOp::kMax, false, false);
MT_REDUCE_BENCH(max_of_columns, kernels::ReduceOp::kMax, true, false);

}  // namespace
}  // namespace minitorch::bench
