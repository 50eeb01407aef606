// AdamW against the formulas by hand, its state, clipping and the schedule.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "minitorch/base/error.h"
#include "minitorch/optim/adamw.h"
#include "tests/minitorch/gradient_support.h"

namespace minitorch::optim {
namespace {

using test::leaf;
using test::random_tensor;
using test::tensor_of;
using test::Values;

// One element followed by hand, in double.
struct Element {
  double p, m = 0, v = 0;
  void step(double g, double lr, int step, const AdamWOptions& o, double decay) {
    m = o.beta1 * m + (1 - o.beta1) * g;
    v = o.beta2 * v + (1 - o.beta2) * g * g;
    const double corrected_m = m / (1 - std::pow(o.beta1, step));
    const double corrected_v = v / (1 - std::pow(o.beta2, step));
    p += -lr * decay * p - lr * corrected_m / (std::sqrt(corrected_v) + o.eps);
  }
};

TEST_CASE("three steps of AdamW follow the formulas, with decay of matrices only") {
  const AdamWOptions options{.beta1 = 0.8, .beta2 = 0.9, .eps = 1e-4, .weight_decay = 0.3};
  for (const Shape& shape : {Shape{2, 9}, Shape{18}}) {
    CAPTURE(to_string(shape));
    const Tensor parameter = leaf(random_tensor(shape, 1));
    std::vector<Element> expected;
    for (const double value : parameter.to_vector()) expected.push_back({.p = value});
    AdamW optimizer({{"w", parameter}}, options);
    for (int step = 1; step <= 3; ++step) {
      const Tensor gradient = random_tensor(shape, static_cast<std::uint64_t>(10 + step));
      parameter.set_grad(gradient);
      const double lr = 0.01 * step;
      optimizer.step(lr, /*grad_scale=*/0.5);
      const Values g = gradient.to_vector();
      const Values p = parameter.to_vector();
      for (std::size_t i = 0; i < p.size(); ++i) {
        expected[i].step(0.5 * g[i], lr, step, options, shape.dims() >= 2 ? 0.3 : 0.0);
        CHECK(p[i] == doctest::Approx(expected[i].p).epsilon(2e-6));
      }
    }
    CHECK(optimizer.num_steps() == 3);
  }
}

TEST_CASE("parameters without a gradient stay, and gradients of any layout serve") {
  const Tensor still = leaf(tensor_of({1, 2}, {2, 1}));
  const Tensor moving = leaf(tensor_of({1, 2}, {2, 1}));
  AdamW optimizer({{"still", still}, {"moving", moving}}, {});
  moving.set_grad(Tensor::full({1, 1}, 3).expand({2, 1}));
  optimizer.step(0.1);
  CHECK(still.to_vector() == Values{1, 2});
  CHECK(moving.to_vector()[0] == doctest::Approx(1 - 0.1 * 0.1 - 0.1));
  optimizer.zero_grad();
  CHECK_FALSE(moving.grad().defined());
}

TEST_CASE("an optimizer that was saved and loaded continues as if it had not stopped") {
  const auto train = [](AdamW& optimizer, const Tensor& w, int from, int to) {
    for (int step = from; step < to; ++step) {
      w.set_grad(random_tensor({3, 3}, static_cast<std::uint64_t>(step)));
      optimizer.step(0.01);
    }
  };
  const Tensor w = leaf(random_tensor({3, 3}, 1));
  AdamW optimizer({{"w", w}}, {});
  train(optimizer, w, 0, 4);
  const Tensor resumed = leaf(w);
  AdamW other({{"w", resumed}}, {});
  other.load_state_dict(optimizer.state_dict());
  CHECK(other.num_steps() == 4);
  train(optimizer, w, 4, 8);
  train(other, resumed, 4, 8);
  CHECK(w.to_vector() == resumed.to_vector());
}

TEST_CASE("load_state_dict names all that does not fit and then changes nothing") {
  const Tensor w = leaf(random_tensor({2}, 1));
  AdamW optimizer({{"w", w}}, {});
  auto state = optimizer.state_dict();
  CHECK(state.size() == 3);
  state.erase("step");
  state["w.m"] = Tensor::full({3}, 1);
  state["u.m"] = Tensor::zeros({1});
  CHECK_THROWS_WITH_AS(
      optimizer.load_state_dict(state),
      "AdamW: load_state_dict: expected the names and shapes of its state_dict, got differences: 'step' is missing; "
      "'w.m' has shape [3] instead of [2]; 'u.m' is unexpected",
      Error);
  CHECK(optimizer.state_dict().at("w.m").to_vector() == Values{0, 0});
  state = optimizer.state_dict();
  state["step"] = Tensor::zeros({}, DType::kF32);
  CHECK_THROWS_AS(optimizer.load_state_dict(state), DTypeError);
}

TEST_CASE("AdamW refuses parameters it cannot change and options without sense") {
  CHECK_THROWS_AS(AdamW({{"w", Tensor::zeros({2})}}, {}), Error);
  CHECK_THROWS_AS(AdamW({{"w", leaf(Tensor::zeros({2}, DType::kF64))}}, {}), DTypeError);
  const Tensor a = leaf(Tensor::zeros({2}));
  CHECK_THROWS_AS(AdamW({{"w", a}, {"w", leaf(Tensor::zeros({2}))}}, {}), Error);
  CHECK_THROWS_AS(AdamW({{"a", a}, {"b", a}}, {}), Error);
  CHECK_THROWS_AS(AdamW({}, {.beta1 = 1}), Error);
  CHECK_THROWS_AS(AdamW({}, {.eps = 0}), Error);
  CHECK_THROWS_AS(AdamW({}, {.weight_decay = -1}), Error);
}

TEST_CASE("grad_norm is the norm over all gradients, and clip_factor brings it down") {
  const Tensor a = leaf(Tensor::zeros({1, 2}));
  const Tensor b = leaf(Tensor::zeros({11}, DType::kF64));
  const Tensor without = leaf(Tensor::zeros({2}));
  a.set_grad(tensor_of({3, 4}, {1, 2}));
  b.set_grad(Tensor::full({}, 2, DType::kF64).expand({11}));
  CHECK(grad_norm(std::vector{a, b, without}) == doctest::Approx(std::sqrt(25 + 44.0)).epsilon(1e-14));
  CHECK(grad_norm({}) == 0);
  CHECK(clip_factor(0.5, 1) == 1);
  CHECK(clip_factor(4, 1) == 0.25);
  CHECK_THROWS_AS((void)clip_factor(std::numeric_limits<double>::quiet_NaN(), 1), Error);
  CHECK_THROWS_AS((void)clip_factor(std::numeric_limits<double>::infinity(), 1), Error);
  CHECK_THROWS_AS((void)clip_factor(1, 0), Error);
}

TEST_CASE("the schedule warms up in a line and falls along half a cosine") {
  const CosineSchedule schedule{.peak = 1, .floor = 0.1, .warmup = 10, .total = 110};
  CHECK(schedule.at(0) == 0);
  CHECK(schedule.at(5) == doctest::Approx(0.5));
  CHECK(schedule.at(10) == 1);
  CHECK(schedule.at(60) == doctest::Approx(0.55));
  CHECK(schedule.at(35) == doctest::Approx(0.1 + 0.9 * 0.5 * (1 + std::sqrt(0.5))));
  CHECK(schedule.at(110) == 0.1);
  CHECK(schedule.at(1000) == 0.1);
  CHECK(CosineSchedule{.peak = 1, .floor = 0, .warmup = 0, .total = 0}.at(0) == 0);
  CHECK_THROWS_AS((void)schedule.at(-1), Error);
  CHECK_THROWS_AS((void)(CosineSchedule{.warmup = 10, .total = 5}.at(0)), Error);
}

}  // namespace
}  // namespace minitorch::optim
