// Whether gradients are recorded is a matter of scope and thread (case B39).
#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "minitorch/core/execution_scope.h"
#include "minitorch/ops/matmul.h"
#include "minitorch/ops/operators.h"
#include "minitorch/ops/reduce.h"
#include "tests/minitorch/gradient_support.h"

namespace minitorch {
namespace {

using test::leaf;
using test::random_tensor;
using test::Values;

bool records() { return (leaf(Tensor::full({1}, 1)) * 2.0).requires_grad(); }

TEST_CASE("an exception inside a scope without gradients restores recording") {
  try {
    const NoGradGuard guard;
    CHECK_FALSE(records());
    throw std::runtime_error("planted");
  } catch (const std::runtime_error&) {
    CHECK(records());
  }
  CHECK(records());
}

TEST_CASE("scopes nest, and each restores what it found") {
  const NoGradGuard outer;
  CHECK_FALSE(records());
  {
    const GradMode inner(true);
    CHECK(records());
    {
      const NoGradGuard innermost;
      CHECK_FALSE(records());
    }
    CHECK(records());
  }
  CHECK_FALSE(records());
}

TEST_CASE("a new thread inherits nothing: it records, whatever its creator does") {
  const NoGradGuard guard;
  bool recorded = false;
  std::thread([&] { recorded = records(); }).join();
  CHECK(recorded);
  CHECK_FALSE(records());
}

Values train(int steps) {
  const Tensor weight = leaf(random_tensor({5, 7}, 1));
  const Tensor x = random_tensor({6, 7}, 2);
  for (int step = 0; step < steps; ++step) ops::sum(ops::square(ops::tanh(ops::linear(x, weight)))).backward();
  return weight.grad().to_vector();
}

TEST_CASE("threads that compute without gradients leave another thread's training alone") {
  constexpr int kSteps = 200;
  const Values alone = train(kSteps);
  std::atomic<bool> stop{false};
  std::atomic<int> recorded{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const Tensor weight = leaf(random_tensor({5, 7}, 1));
      while (!stop.load()) {
        const NoGradGuard guard;
        if (ops::sum(ops::linear(weight, weight)).requires_grad()) ++recorded;
        std::this_thread::yield();
      }
    });
  }
  const Values beside = train(kSteps);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(beside == alone);
  CHECK(recorded == 0);
}

}  // namespace
}  // namespace minitorch
