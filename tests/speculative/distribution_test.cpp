// distribution(): every setting on its own, their order, edges and what is refused.
#include "speculative/distribution.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>  // INFINITY, NAN
#include <vector>

#include "minitorch/base/error.h"
#include "minitorch/base/philox.h"

using namespace minitorch;
using namespace minitorch::spec;

namespace {

// Logits with these probabilities at temperature 1.
std::vector<float> logits_of(const std::vector<double>& probabilities) {
  std::vector<float> logits;
  for (const double p : probabilities) logits.push_back(static_cast<float>(std::log(p)));
  return logits;
}

std::vector<std::int32_t> ids_of(const Distribution& row) {
  std::vector<std::int32_t> ids;
  for (const TokenProbability& token : row.tokens) ids.push_back(token.id);
  return ids;
}

void check_row(const Distribution& row, const std::vector<TokenProbability>& expected) {
  REQUIRE(row.tokens.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(row.tokens[i].id == expected[i].id);
    CHECK(row.tokens[i].probability == doctest::Approx(expected[i].probability).epsilon(1e-6));
  }
}

using Ids = std::vector<std::int32_t>;
const std::vector<float> kLogits = logits_of({0.1, 0.4, 0.2, 0.3});

}  // namespace

TEST_CASE("temperature 0 gives the lowest id among the largest logits with probability 1, whatever else is set") {
  const std::vector<float> logits{-1.0f, 7.0f, 2.0f, 7.0f};
  check_row(distribution(logits, {}), {{1, 1.0}});
  check_row(distribution(logits, {.top_k = 3, .top_p = 0.1, .min_p = 0.5}), {{1, 1.0}});
}

TEST_CASE("temperature 1 gives softmax, other temperatures sharpen or flatten it") {
  check_row(distribution(kLogits, {.temperature = 1.0}), {{0, 0.1}, {1, 0.4}, {2, 0.2}, {3, 0.3}});
  // Powers of the probabilities: 1/T = 2 and 1/2.
  check_row(distribution(kLogits, {.temperature = 0.5}),
            {{0, 0.01 / 0.3}, {1, 0.16 / 0.3}, {2, 0.04 / 0.3}, {3, 0.09 / 0.3}});
  const double sum = std::sqrt(0.1) + std::sqrt(0.4) + std::sqrt(0.2) + std::sqrt(0.3);
  CHECK(distribution(kLogits, {.temperature = 2.0}).probability_of(1) ==
        doctest::Approx(std::sqrt(0.4) / sum).epsilon(1e-6));
}

TEST_CASE("top_k keeps the k most probable ids, of equal ones the lowest, 0 and more than there are keep all") {
  check_row(distribution(kLogits, {.temperature = 1.0, .top_k = 2}), {{1, 0.4 / 0.7}, {3, 0.3 / 0.7}});
  CHECK(ids_of(distribution(kLogits, {.temperature = 1.0, .top_k = 1})) == Ids{1});
  CHECK(ids_of(distribution(kLogits, {.temperature = 1.0, .top_k = 0})) == Ids{0, 1, 2, 3});
  CHECK(ids_of(distribution(kLogits, {.temperature = 1.0, .top_k = 10'000'000})) == Ids{0, 1, 2, 3});
  const std::vector<float> ties{1.0f, 2.0f, 2.0f, 2.0f};
  CHECK(ids_of(distribution(ties, {.temperature = 1.0, .top_k = 2})) == Ids{1, 2});
}

TEST_CASE("top_p keeps the fewest most probable ids that reach it, at least one, and 1 keeps all") {
  check_row(distribution(kLogits, {.temperature = 1.0, .top_p = 0.5}), {{1, 0.4 / 0.7}, {3, 0.3 / 0.7}});
  CHECK(ids_of(distribution(kLogits, {.temperature = 1.0, .top_p = 0.39})) == Ids{1});
  CHECK(ids_of(distribution(kLogits, {.temperature = 1.0, .top_p = 0.75})) == Ids{1, 2, 3});
  CHECK(ids_of(distribution(kLogits, {.temperature = 1.0, .top_p = 0.0})) == Ids{1});
  CHECK(ids_of(distribution(kLogits, {.temperature = 1.0, .top_p = 1.0})) == Ids{0, 1, 2, 3});
  const std::vector<float> ties{2.0f, 2.0f, 2.0f, 2.0f};
  CHECK(ids_of(distribution(ties, {.temperature = 1.0, .top_p = 0.5})) == Ids{0, 1});
}

TEST_CASE("min_p keeps ids at least that many times as probable as the most probable one") {
  check_row(distribution(kLogits, {.temperature = 1.0, .min_p = 0.6}), {{1, 0.4 / 0.7}, {3, 0.3 / 0.7}});
  CHECK(ids_of(distribution(kLogits, {.temperature = 1.0, .min_p = 0.0})) == Ids{0, 1, 2, 3});
  CHECK(ids_of(distribution(kLogits, {.temperature = 1.0, .min_p = 1.0})) == Ids{1});
}

TEST_CASE("the temperature acts before top_k, that before top_p, and top_p counts what top_k left") {
  // Sharpened to 0.033, 0.533, 0.133, 0.3: the first alone reaches 0.5.
  CHECK(ids_of(distribution(kLogits, {.temperature = 0.5, .top_p = 0.5})) == Ids{1});
  // Of 0.4 and 0.3 the first is 0.571: without top_k two ids are needed for 0.55.
  CHECK(ids_of(distribution(kLogits, {.temperature = 1.0, .top_k = 2, .top_p = 0.55})) == Ids{1});
  CHECK(ids_of(distribution(kLogits, {.temperature = 1.0, .top_p = 0.55})) == Ids{1, 3});
}

TEST_CASE("a nucleus of any size is found: as by sorting everything, at many sizes of vocabulary") {
  PhiloxStream random(5);
  for (const std::size_t vocab_size : {1u, 63u, 64u, 65u, 513u, 3000u}) {
    std::vector<float> logits(vocab_size);
    for (float& logit : logits) logit = random.uniform() * 2.0f;
    for (const double top_p : {0.01, 0.5, 0.9, 0.999}) {
      CAPTURE(vocab_size);
      CAPTURE(top_p);
      std::vector<TokenProbability> all = distribution(logits, {.temperature = 1.0}).tokens;
      std::stable_sort(all.begin(), all.end(), [](const TokenProbability& a, const TokenProbability& b) {
        return a.probability > b.probability;
      });
      double sum = 0.0;
      std::size_t count = 0;
      while (count < all.size() && sum < top_p) sum += all[count++].probability;
      const Distribution row = distribution(logits, {.temperature = 1.0, .top_p = top_p});
      REQUIRE(row.tokens.size() == count);
      for (std::size_t i = 0; i < count; ++i) {
        REQUIRE(row.probability_of(all[i].id) == doctest::Approx(all[i].probability / sum).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("rows are sorted by id, sum to 1, and their memory can be used again") {
  Distribution row;
  distribution(kLogits, {.temperature = 1.0}, row);
  distribution(logits_of({0.2, 0.3, 0.5}), {.temperature = 1.0, .top_k = 2}, row);
  check_row(row, {{1, 0.3 / 0.8}, {2, 0.5 / 0.8}});
  CHECK(row.probability_of(0) == 0.0);
  CHECK(row.probability_of(99) == 0.0);
}

TEST_CASE("B07: a tiny temperature with huge logits stays finite and is the argmax, a huge one is uniform") {
  const std::vector<float> logits{-80.0f, 80.0f, 79.0f};
  check_row(distribution(logits, {.temperature = 1e-6}), {{1, 1.0}});
  check_row(distribution(logits, {.temperature = 1e-320}), {{1, 1.0}});
  check_row(distribution(logits, {.temperature = 1e300}), {{0, 1.0 / 3}, {1, 1.0 / 3}, {2, 1.0 / 3}});
}

TEST_CASE("ids masked with -inf are never kept, id 0 can be") {
  CHECK(ids_of(distribution(std::vector<float>{-INFINITY, -3.0f, -INFINITY}, {})) == Ids{1});
  CHECK(ids_of(distribution(std::vector<float>{-INFINITY, -3.0f, -INFINITY}, {.temperature = 1e9})) == Ids{1});
  CHECK(ids_of(distribution(std::vector<float>{-2.0f, -3.0f}, {})) == Ids{0});
}

TEST_CASE("a NaN anywhere in the row is reported, also behind the largest logit, and so is +inf") {
  CHECK_THROWS_WITH_AS(static_cast<void>(distribution(std::vector<float>{5.0f, NAN}, {})),
                       "distribution: logit 1 is NaN", Error);
  CHECK_THROWS_AS(static_cast<void>(distribution(std::vector<float>{NAN, 5.0f}, {})), Error);
  CHECK_THROWS_WITH_AS(static_cast<void>(distribution(std::vector<float>{5.0f, INFINITY}, {.temperature = 1.0})),
                       "distribution: logit 1 is inf", Error);
}

TEST_CASE("a row without any finite logit is reported") {
  CHECK_THROWS_AS(static_cast<void>(distribution(std::vector<float>{-INFINITY, -INFINITY}, {})), Error);
  CHECK_THROWS_AS(static_cast<void>(distribution({}, {})), Error);
}

TEST_CASE("B07: settings out of range are refused, never clamped") {
  for (const double bad : {-1.0, -1e-9, double{NAN}, double{INFINITY}}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(check_sampling({.temperature = bad}), Error);
    CHECK_THROWS_AS(check_sampling({.top_p = bad}), Error);
    CHECK_THROWS_AS(check_sampling({.min_p = bad}), Error);
  }
  CHECK_THROWS_WITH_AS(check_sampling({.top_p = 1.5}), "sampling: expected a top_p from 0 to 1, got 1.5", Error);
  CHECK_THROWS_AS(check_sampling({.min_p = 1.5}), Error);
  CHECK_THROWS_AS(check_sampling({.top_k = -1}), Error);
  CHECK_THROWS_AS(static_cast<void>(distribution(kLogits, {.temperature = -1.0})), Error);
}
