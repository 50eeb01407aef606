// Graphs far deeper than a thread's stack.
#include <doctest/doctest.h>
#include <pthread.h>

#include <cstdint>

#include "minitorch/autograd/node.h"
#include "minitorch/ops/operators.h"
#include "tests/minitorch/gradient_support.h"

namespace minitorch {
namespace {

constexpr int kDepth = 300'000;
constexpr std::size_t kStackBytes = 512 << 10;

struct Result {
  bool walk = false;
  double gradient = 0.0;
  double value = 0.0;
};

// y = x, then y = y + x again and again, which is (depth + 1) x.
void* build(void* argument) {
  Result& result = *static_cast<Result*>(argument);
  const Tensor x = test::leaf(Tensor::full({1}, 2));
  Tensor y = x;
  for (int i = 0; i < kDepth; ++i) y = y + x;
  result.value = y.item();
  if (result.walk) {
    y.backward();
    result.gradient = x.grad().item();
  }
  return nullptr;
}

void run_on_small_stack(Result& result) {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, kStackBytes) == 0);
  pthread_t thread{};
  REQUIRE(pthread_create(&thread, &attributes, &build, &result) == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  pthread_attr_destroy(&attributes);
}

TEST_CASE("300000 additions in a row are differentiated and freed on a stack of 512 KB (B35)") {
  const std::int64_t before = autograd::live_nodes();
  Result result{.walk = true};
  run_on_small_stack(result);
  CHECK(result.value == 2.0 * (kDepth + 1));
  CHECK(result.gradient == kDepth + 1);
  CHECK(autograd::live_nodes() == before);
}

TEST_CASE("300000 additions in a row are freed without ever being differentiated (B35)") {
  const std::int64_t before = autograd::live_nodes();
  Result result;
  run_on_small_stack(result);
  CHECK(result.value == 2.0 * (kDepth + 1));
  CHECK(autograd::live_nodes() == before);
}

}  // namespace
}  // namespace minitorch
