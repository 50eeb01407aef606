// The engine: which gradients arrive, what is kept, freed and refused.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "minitorch/autograd/backward.h"
#include "minitorch/autograd/node.h"
#include "minitorch/autograd/record.h"
#include "minitorch/base/error.h"
#include "minitorch/core/execution_scope.h"
#include "minitorch/ops/fused.h"
#include "minitorch/ops/matmul.h"
#include "minitorch/ops/operators.h"
#include "minitorch/ops/reduce.h"
#include "tests/minitorch/gradient_support.h"

namespace minitorch {
namespace {

using autograd::backward;
using test::leaf;
using test::tensor_of;
using test::Values;

Tensor number(double value) { return leaf(Tensor::full({}, value, DType::kF64)); }

TEST_CASE("a tensor that is used along several paths gets the sum of their gradients") {
  const Tensor x = number(3);
  const Tensor a = x * 2.0;
  const Tensor b = x * x;
  const Tensor diamond = a * b + a;  // 2 x^3 + 2 x
  diamond.backward();
  CHECK(x.grad().item() == 6 * 9 + 2);
  CHECK(diamond.item() == 60);
}

TEST_CASE("every consumer of an inner node is waited for, however long its path") {
  const Tensor x = number(2);
  const Tensor shared = x * 3.0;
  Tensor longer = shared;
  for (int i = 0; i < 10; ++i) longer = longer + 1.0;
  (shared * longer).backward();  // 3x (3x + 10): derivative 18x + 30
  CHECK(x.grad().item() == 66);
}

TEST_CASE("gradients of several backward passes add up until they are let go of") {
  const Tensor x = leaf(tensor_of({1, 2}, {2}));
  for (int pass = 1; pass <= 3; ++pass) {
    ops::sum(x * 5.0).backward();
    CHECK(x.grad().to_vector() == Values{5.0 * pass, 5.0 * pass});
  }
  x.set_grad({});
  CHECK_FALSE(x.grad().defined());
  ops::sum(x).backward();
  CHECK(x.grad().to_vector() == Values{1, 1});
}

TEST_CASE("adding to a gradient leaves tensors alone that were handed out before") {
  const Tensor x = number(1);
  const Tensor y = number(1);
  (x + y).backward();
  const Tensor kept = x.grad();
  (x + x).backward();
  CHECK(kept.item() == 1);
  CHECK(y.grad().item() == 1);
  CHECK(x.grad().item() == 3);
}

TEST_CASE("a graph can be walked again only when it was retained") {
  const Tensor x = number(4);
  const Tensor y = x * x;
  backward(y, {}, {.retain_graph = true});
  y.backward();
  CHECK(x.grad().item() == 16);
  CHECK_THROWS_WITH_AS(
      y.backward(), "backward: the graph behind 'mul' was freed by an earlier pass; use retain_graph to walk it again",
      Error);
}

TEST_CASE("backward refuses outputs and gradients that do not fit") {
  const Tensor x = leaf(tensor_of({1, 2}, {2}));
  CHECK_THROWS_AS(tensor_of({1}, {1}).backward(), Error);
  CHECK_THROWS_WITH_AS((x * x).backward(), "backward: expected a gradient for an output of shape [2], got none",
                       ShapeError);
  CHECK_THROWS_AS((x * x).backward(Tensor::zeros({3})), ShapeError);
  CHECK_THROWS_AS((x * x).backward(Tensor::zeros({2}, DType::kF64)), DTypeError);
  (x * x).backward(tensor_of({1, 10}, {2}));
  CHECK(x.grad().to_vector() == Values{2, 40});
}

TEST_CASE("a backward function of the wrong shape is reported with the name of its op") {
  const Tensor x = leaf(tensor_of({1, 2}, {2}));
  Tensor y = (x * 1.0).detach();
  autograd::record(y, "planted", {&x}, [] {
    return [](const Tensor&, autograd::InputGradients& inputs) { inputs.set(0, Tensor::zeros({3})); };
  });
  CHECK_THROWS_WITH_AS(y.backward(Tensor::zeros({2})),
                       "planted backward: expected a gradient of shape [2] for input 0, got [3]", ShapeError);
}

TEST_CASE("only float tensors that no op computed may be told to require a gradient") {
  const Tensor x = number(1);
  const Tensor y = x * 2.0;
  CHECK(x.is_leaf());
  CHECK_FALSE(y.is_leaf());
  CHECK(y.requires_grad());
  CHECK_THROWS_AS(y.requires_grad_(false), Error);
  CHECK_THROWS_AS(Tensor::zeros({1}, DType::kI64).requires_grad_(), DTypeError);
  CHECK_THROWS_AS(y.set_grad(Tensor::zeros({})), Error);
  CHECK_THROWS_AS(x.set_grad(Tensor::zeros({2})), ShapeError);
  const Tensor detached = y.detach();
  CHECK(detached.is_leaf());
  CHECK_FALSE(detached.requires_grad());
  CHECK(detached.shares_storage_with(y));
  x.requires_grad_(false);
  CHECK_FALSE((x * 2.0).requires_grad());
}

TEST_CASE("a detached tensor is a constant to what is computed from it") {
  const Tensor x = number(3);
  (x * x.detach()).backward();
  CHECK(x.grad().item() == 3);
}

TEST_CASE("inputs that need no gradient cost none and get none") {
  const Tensor x = number(3);
  const Tensor constant = Tensor::full({}, 2, DType::kF64);
  (x * constant).backward();
  CHECK(x.grad().item() == 2);
  CHECK_FALSE(constant.grad().defined());
}

TEST_CASE("a graph lives as long as something that can be differentiated through it") {
  const std::int64_t before = autograd::live_nodes();
  {
    const Tensor x = number(3);
    Tensor y = x * x + 1.0;
    CHECK(autograd::live_nodes() == before + 2);
    y = {};
    CHECK(autograd::live_nodes() == before);
    const Tensor z = x * x * x;
    z.backward();
    CHECK(autograd::live_nodes() <= before + 1);  // z's own node, emptied
  }
  CHECK(autograd::live_nodes() == before);
}

TEST_CASE("nothing is recorded when gradients are off or no input requires one") {
  const std::int64_t before = autograd::live_nodes();
  const Tensor x = number(3);
  {
    const NoGradGuard guard;
    CHECK_FALSE((x * x).requires_grad());
  }
  CHECK_FALSE((x.detach() * 2.0).requires_grad());
  CHECK(autograd::live_nodes() == before);
}

// d(function)/dx as a tensor with a history.
template <typename Function>
Tensor derivative(const Tensor& x, const Function& function) {
  x.set_grad({});
  backward(function(x), {}, {.create_graph = true});
  Tensor gradient = x.grad();
  x.set_grad({});
  return gradient;
}

TEST_CASE("create_graph gives derivatives of derivatives") {
  const Tensor x = number(0.7);
  const auto second_and_third = [&](const auto& function) {
    const auto first = [&](const Tensor& at) { return derivative(at, function); };
    const Tensor second = derivative(x, first);
    const auto again = [&](const Tensor& at) { return derivative(at, first); };
    return Values{second.item(), derivative(x, again).item()};
  };
  const auto check = [](const Values& found, double second, double third) {
    CHECK(found[0] == doctest::Approx(second).epsilon(1e-12));
    CHECK(found[1] == doctest::Approx(third).epsilon(1e-12));
  };
  check(second_and_third([](const Tensor& t) { return t * t * t; }), 6 * 0.7, 6);
  check(second_and_third([](const Tensor& t) { return ops::exp(t * 2.0); }), 4 * std::exp(1.4), 8 * std::exp(1.4));
  check(second_and_third([](const Tensor& t) { return ops::sin(t); }), -std::sin(0.7), -std::cos(0.7));
  check(second_and_third([](const Tensor& t) { return 1.0 / t; }), 2 / std::pow(0.7, 3), -6 / std::pow(0.7, 4));
  const double u = std::tanh(0.7);
  check(second_and_third([](const Tensor& t) { return ops::tanh(t); }), -2 * u * (1 - u * u),
        (1 - u * u) * (6 * u * u - 2));
}

TEST_CASE("in-place changes and copies into tensors refuse to lose a gradient") {
  const Tensor x = leaf(tensor_of({1, 2}, {2}));
  const Tensor plain = tensor_of({3, 4}, {2});
  CHECK_THROWS_AS(ops::add_(x, plain), Error);
  CHECK_THROWS_AS(ops::add_(plain, x), Error);
  CHECK_THROWS_AS(ops::mul_(x, 2.0), Error);
  CHECK_THROWS_AS(plain.copy_(x), Error);
  const NoGradGuard guard;
  ops::add_(x, plain);
  ops::mul_(x, 2.0);
  CHECK(x.to_vector() == Values{8, 12});
}

TEST_CASE("a leaf takes gradients of its own shape and dtype only") {
  const Tensor x = leaf(tensor_of({1, 2}, {2}));
  CHECK_THROWS_AS(x.set_grad(Tensor::zeros({3})), ShapeError);
  CHECK_THROWS_AS(x.set_grad(Tensor::zeros({2}, DType::kF64)), DTypeError);
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("products of empty matrices give gradients of their inputs' shapes") {
  const Tensor a = leaf(Tensor::zeros({2, 3, 0}));
  const Tensor b = leaf(Tensor::zeros({0, 4}));
  ops::sum(ops::matmul(a, b)).backward();
  CHECK(a.grad().shape() == a.shape());
  CHECK(b.grad().shape() == b.shape());
  const Tensor x = leaf(Tensor::zeros({2, 3}));
  const Tensor weight = leaf(Tensor::zeros({0, 3}));
  ops::sum(ops::linear(x, weight)).backward();
  CHECK(x.grad().to_vector() == Values(6, 0.0));
  CHECK(weight.grad().shape() == weight.shape());
}

TEST_CASE("rows that do not count put nothing into the loss, whatever they hold, in either type") {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const Tensor logits = leaf(tensor_of({-infinity, 1, 0, -infinity, -infinity, -infinity}, {2, 3}, dtype));
    const Tensor loss = ops::cross_entropy(logits, std::vector<std::int32_t>{1, -1});
    CHECK(loss.item() == doctest::Approx(std::log1p(std::exp(-1.0))));
    loss.backward();
    for (std::size_t i = 3; i < 6; ++i) CHECK(logits.grad().to_vector()[i] == 0.0);
  }
}

}  // namespace
}  // namespace minitorch
