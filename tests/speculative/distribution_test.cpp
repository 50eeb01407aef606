// distribution(): temperature 0 and what is refused.
#include "speculative/distribution.h"

#include <doctest/doctest.h>

#include <cmath>  // INFINITY, NAN
#include <vector>

#include "minitorch/base/error.h"

using minitorch::Error;
using minitorch::spec::distribution;
using minitorch::spec::Distribution;

TEST_CASE("temperature 0 gives the lowest id among the largest logits with probability 1") {
  const Distribution row = distribution(std::vector<float>{-1.0f, 7.0f, 2.0f, 7.0f}, {});
  CHECK(row.ids == std::vector<std::int32_t>{1});
  CHECK(row.probabilities == std::vector<double>{1.0});
}

TEST_CASE("ids masked with -inf are never chosen, id 0 can be") {
  CHECK(distribution(std::vector<float>{-INFINITY, -3.0f, -INFINITY}, {}).ids.front() == 1);
  CHECK(distribution(std::vector<float>{-2.0f, -3.0f}, {}).ids.front() == 0);
}

TEST_CASE("a NaN anywhere in the row is reported, also behind the largest logit") {
  CHECK_THROWS_WITH_AS(static_cast<void>(distribution(std::vector<float>{5.0f, NAN}, {})),
                       "distribution: logit 1 is NaN", Error);
  CHECK_THROWS_AS(static_cast<void>(distribution(std::vector<float>{NAN, 5.0f}, {})), Error);
}

TEST_CASE("a row without any finite logit is reported") {
  CHECK_THROWS_AS(static_cast<void>(distribution(std::vector<float>{-INFINITY, -INFINITY}, {})), Error);
  CHECK_THROWS_AS(static_cast<void>(distribution({}, {})), Error);
}

TEST_CASE("a temperature other than 0 is refused, never ignored") {
  const std::vector<float> logits{1.0f, 2.0f};
  for (const double temperature : {0.6, 1.0, -1.0, double{NAN}}) {
    CAPTURE(temperature);
    CHECK_THROWS_AS(static_cast<void>(distribution(logits, {.temperature = temperature})), Error);
  }
  CHECK_THROWS_WITH(static_cast<void>(distribution(logits, {.temperature = 0.6})),
                    "sampling: only temperature 0 is available, got 0.6");
}
