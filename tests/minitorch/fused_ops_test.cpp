// Fused ops at sizes that fill vectors and blocks: f32 kernels against the f64 composites, aliasing, refusals. Small
// shapes and derivatives: grad_check_test.cpp.
#include "minitorch/ops/fused.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "minitorch/base/error.h"
#include "minitorch/core/execution_scope.h"
#include "minitorch/ops/operators.h"
#include "tests/minitorch/gradient_support.h"

namespace minitorch::ops {
namespace {

using test::leaf;
using test::random_tensor;
using test::tensor_of;
using test::Values;
using Ids = std::vector<std::int32_t>;

using Function = std::function<Tensor(const std::vector<Tensor>&)>;

// The largest difference between f32 and f64, of the result and of all gradients, each over its largest value.
double worst_difference(const Function& function, const std::vector<Tensor>& values) {
  std::vector<std::vector<Tensor>> results;
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    std::vector<Tensor> inputs;
    for (const Tensor& value : values) inputs.push_back(leaf(value.to(dtype)));
    const Tensor y = function(inputs);
    y.backward(random_tensor(y.shape(), 77, dtype));
    std::vector<Tensor> outcome{y.detach()};
    for (const Tensor& input : inputs) outcome.push_back(input.grad());
    results.push_back(outcome);
  }
  double worst = 0;
  for (std::size_t i = 0; i < results[0].size(); ++i) {
    const Values exact = results[1][i].to_vector();
    double scale = 1e-30;
    for (const double value : exact) scale = std::max(scale, std::abs(value));
    const Tensor difference = results[0][i].to(DType::kF64) - results[1][i];
    for (const double value : difference.to_vector()) {
      if (!(std::abs(value) / scale <= worst)) worst = std::abs(value) / scale;
    }
  }
  return worst;
}

TEST_CASE("fused ops agree with their composites in value and gradient") {
  for (const auto& [rows, cols] : {std::pair{130, 37}, std::pair{3, 256}, std::pair{1, 1}}) {
    CAPTURE(rows);
    CAPTURE(cols);
    const Tensor x = random_tensor({rows, cols}, 1, DType::kF32, -4, 4);
    const Tensor weight = random_tensor({cols}, 2, DType::kF32, 0.5, 1.5);
    const Tensor bias = random_tensor({cols}, 3);
    CHECK(worst_difference([](const auto& in) { return softmax(in[0]); }, {x}) < 1e-5);
    CHECK(worst_difference([](const auto& in) { return log_softmax(in[0]); }, {x}) < 1e-5);
    if (cols > 1) {  // a single column is normalised to its sign: nothing is left of the gradient but rounding
      CHECK(worst_difference([](const auto& in) { return rms_norm(in[0], in[1], 1e-5F); }, {x, weight}) < 1e-5);
      CHECK(worst_difference([](const auto& in) { return layer_norm(in[0], in[1], in[2], 1e-5F); }, {x, weight, bias}) <
            1e-5);
    }
    const Tensor gate_up = random_tensor({rows, 2 * cols}, 4, DType::kF32, -4, 4);
    CHECK(worst_difference([](const auto& in) { return silu_mul(in[0]); }, {gate_up}) < 1e-5);
  }
}

TEST_CASE("rope and attention agree with their composites in value and gradient") {
  const AttentionHeads heads{.heads = 4, .kv_heads = 2, .head_dim = 16};
  const Ids begins{0, 70, 70, 71, 100};
  const Tensor qkv = random_tensor({100, 8 * 16}, 5);
  const Tensor angles = random_tensor({100, 8}, 6, DType::kF64, -3, 3);
  const Tensor cosines = ops::cos(angles);
  const Tensor sines = ops::sin(angles);
  CHECK(worst_difference(
            [&](const auto& in) {
              const DType dtype = in[0].dtype();
              return causal_attention(rope(in[0], 6, cosines.to(dtype), sines.to(dtype)), begins, heads);
            },
            {qkv}) < 1e-5);
}

TEST_CASE("losses agree with their composites in value and gradient") {
  const Tensor logits = random_tensor({40, 131}, 7, DType::kF32, -6, 6);
  Ids targets;
  for (std::int32_t row = 0; row < 40; ++row) targets.push_back(row % 7 == 3 ? -100 : (row * 37) % 131);
  CHECK(worst_difference([&](const auto& in) { return cross_entropy(in[0], targets); }, {logits}) < 1e-5);
  const Tensor teacher = softmax(random_tensor({40, 131}, 8, DType::kF64, -6, 6));
  CHECK(worst_difference([&](const auto& in) { return soft_cross_entropy(in[0], teacher.to(in[0].dtype())); },
                         {logits}) < 1e-5);
}

TEST_CASE("cross_entropy is the mean over the rows that count") {
  const Tensor logits = leaf(tensor_of({1, 1, 5, 5, 0, std::log(3.0)}, {3, 2}));
  const Tensor loss = cross_entropy(logits, Ids{0, -1, 1});
  CHECK(loss.shape() == Shape{});
  CHECK(loss.item() == doctest::Approx((std::log(2.0) - std::log(0.75)) / 2).epsilon(1e-6));
  loss.backward();
  const Values gradient = logits.grad().to_vector();
  const Values expected{-0.25, 0.25, 0, 0, 0.125, -0.125};
  for (std::size_t i = 0; i < 6; ++i) CHECK(gradient[i] == doctest::Approx(expected[i]).epsilon(1e-6));
}

TEST_CASE("losses refuse targets outside the logits, rows without one and a teacher with a gradient") {
  const Tensor logits = Tensor::zeros({2, 3});
  CHECK_THROWS_WITH_AS((void)cross_entropy(logits, Ids{0, 3}), "cross_entropy: expected targets below 3, got 3", Error);
  CHECK_THROWS_WITH_AS((void)cross_entropy(logits, Ids{-1, -1}),
                       "cross_entropy: expected at least one target that counts, got 2 negative ones", Error);
  CHECK_THROWS_WITH_AS((void)cross_entropy(logits, Ids{0}),
                       "cross_entropy: expected 2 targets for logits [2, 3], got 1", ShapeError);
  CHECK_THROWS_AS((void)cross_entropy(Tensor::zeros({3}), Ids{0}), ShapeError);
  CHECK_THROWS_AS((void)soft_cross_entropy(logits, Tensor::zeros({2, 2})), ShapeError);
  CHECK_THROWS_AS((void)soft_cross_entropy(logits, leaf(logits)), Error);
  CHECK_THROWS_AS((void)soft_cross_entropy(logits, logits.to(DType::kF64)), DTypeError);
}

TEST_CASE("softmax has rows that sum to 1, stands large values and refuses empty rows") {
  const Tensor y = softmax(tensor_of({1000, 1000, -1000, 0, 0, 0}, {2, 3}));
  CHECK(y.to_vector()[0] == doctest::Approx(0.5));
  CHECK(y.to_vector()[2] == 0);
  CHECK(y.to_vector()[4] == doctest::Approx(1.0 / 3));
  CHECK(log_softmax(tensor_of({-1000, 0}, {2})).to_vector()[0] == doctest::Approx(-1000));
  CHECK(softmax(Tensor::zeros({0, 3})).shape() == Shape{0, 3});
  CHECK_THROWS_AS((void)softmax(Tensor::zeros({})), ShapeError);
  CHECK_THROWS_AS((void)softmax(Tensor::zeros({2}, DType::kBF16)), DTypeError);
}

TEST_CASE("norms refuse parameters that do not fit") {
  const Tensor x = Tensor::zeros({2, 3, 4});
  CHECK(rms_norm(x, Tensor::zeros({4}), 1e-5F).shape() == x.shape());
  CHECK_THROWS_WITH_AS((void)rms_norm(x, Tensor::zeros({3}), 0), "rms_norm: expected weight of shape [4], got [3]",
                       ShapeError);
  CHECK_THROWS_AS((void)layer_norm(x, Tensor::zeros({4}), Tensor::zeros({1}), 0), ShapeError);
  CHECK_THROWS_AS((void)layer_norm(x, Tensor::zeros({4}, DType::kF64), {}, 0), DTypeError);
}

TEST_CASE("rope works in the memory of an argument that is given away, and in a copy else") {
  const Tensor cosines = Tensor::zeros({2, 1});
  const Tensor sines = Tensor::full({2, 1}, 1);
  Tensor x = tensor_of({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor kept = rope(x, 1, cosines, sines);
  CHECK(kept.to_vector() == Values{-2, 1, 3, -5, 4, 6});
  CHECK(x.to_vector() == Values{1, 2, 3, 4, 5, 6});
  void* const memory = x.raw_data();
  const Tensor moved = rope(std::move(x), 1, cosines, sines);
  CHECK(moved.raw_data() == memory);
  CHECK(moved.to_vector() == kept.to_vector());
  // What a node has saved is not overwritten: the gradient of exp is its result.
  const Tensor input = leaf(Tensor::zeros({1, 2}));
  rope(ops::exp(input), 1, Tensor::zeros({1, 1}), Tensor::full({1, 1}, 1)).backward(tensor_of({3, 5}, {1, 2}));
  CHECK(input.grad().to_vector() == Values{5, -3});
}

TEST_CASE("rope refuses angles that do not fit, and angles with a gradient") {
  const Tensor x = Tensor::zeros({2, 6});
  const Tensor angles = Tensor::zeros({2, 2});
  CHECK_THROWS_WITH_AS((void)rope(x, 2, angles, angles),
                       "rope: expected rows of at least 2 heads of 4 elements, got [2, 6]", ShapeError);
  CHECK_THROWS_AS((void)rope(x, 1, Tensor::zeros({3, 2}), angles), ShapeError);
  CHECK_THROWS_AS((void)rope(x, 1, angles, Tensor::zeros({2, 1})), ShapeError);
  CHECK_THROWS_AS((void)rope(x, 1, angles, angles.to(DType::kF64)), DTypeError);
  CHECK_THROWS_AS((void)rope(x, 1, leaf(angles), angles), Error);
}

TEST_CASE("attention sees its own sequence's past only") {
  const AttentionHeads heads{.heads = 2, .kv_heads = 1, .head_dim = 4};
  const Tensor qkv = random_tensor({9, 16}, 9);
  const Tensor all = causal_attention(qkv, Ids{0, 5, 9}, heads);
  const Tensor alone = causal_attention(qkv.slice(0, {.start = 5}), Ids{0, 4}, heads);
  CHECK(all.slice(0, {.start = 5}).to_vector() == alone.to_vector());
  const Tensor shorter = causal_attention(qkv.slice(0, {.stop = 3}), Ids{0, 3}, heads);
  CHECK(all.slice(0, {.stop = 3}).to_vector() == shorter.to_vector());
  // The first row of a sequence sees itself alone: its result is its value.
  const Values value = qkv.select(0, 5).slice(0, {.start = 12}).to_vector();
  const Values first = alone.select(0, 0).to_vector();
  for (std::size_t i = 0; i < 8; ++i) CHECK(first[i] == doctest::Approx(value[i % 4]).epsilon(1e-6));
  CHECK(causal_attention(Tensor::zeros({0, 16}), Ids{0}, heads).shape() == Shape{0, 8});
}

TEST_CASE("attention refuses heads and sequences that do not fit") {
  const Tensor qkv = Tensor::zeros({4, 16});
  const AttentionHeads heads{.heads = 2, .kv_heads = 1, .head_dim = 4};
  CHECK_THROWS_WITH_AS((void)causal_attention(qkv, Ids{0, 3}, heads),
                       "causal_attention: expected begins from 0 to 4, got 2 of them", Error);
  CHECK_THROWS_WITH_AS((void)causal_attention(qkv, Ids{0, 3, 2, 4}, heads),
                       "causal_attention: expected ascending begins, got 2 behind 3", Error);
  CHECK_THROWS_AS((void)causal_attention(qkv, Ids{}, heads), Error);
  CHECK_THROWS_AS((void)causal_attention(qkv, Ids{0, 4}, {.heads = 3, .kv_heads = 2, .head_dim = 2}), ShapeError);
  CHECK_THROWS_AS((void)causal_attention(qkv, Ids{0, 4}, {.heads = 2, .kv_heads = 1, .head_dim = 3}), ShapeError);
}

}  // namespace
}  // namespace minitorch::ops
