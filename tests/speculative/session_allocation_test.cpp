// Decoding allocates no memory once it is warm.
#include <doctest/doctest.h>

#include <new>

#include "minitorch/core/execution_scope.h"
#include "tests/speculative/counting_new.h"
#include "tests/speculative/helpers.h"
#include "tests/support/random_model.h"

using namespace minitorch;
using namespace minitorch::spec;

TEST_CASE("a second request of a session decodes a hundred tokens without an allocation, plainly and with drafts") {
  const auto model = test::make_random_model({}, 21, default_runtime());
  const test::Ids prompt{1, 2, 3, 1, 2};
  for (const std::int32_t gamma : {0, 4, 8}) {
    CAPTURE(gamma);
    const auto drafter = find_drafter("ngram").make({});
    Session session(*model, nullptr, drafter.get(), test::greedy());
    static_cast<void>(session.generate(prompt, test::options_of(200, gamma)));
    session.reset();
    long allocations = -1;
    int tokens = 0;
    static_cast<void>(session.generate(prompt, test::options_of(200, gamma), [&](const TokenEvent&) {
      if (++tokens == 50) test::reset_allocation_count();
      if (tokens == 150) allocations = test::allocation_count();
      return true;
    }));
    CHECK(allocations == 0);
  }
}

TEST_CASE("sampling allocates nothing either, for every verifier and with a draft model") {
  const auto model = test::make_random_model({}, 21, default_runtime());
  const auto draft = test::make_random_model({.num_layers = 1}, 22, default_runtime());
  const auto drafter = find_drafter("model").make({.draft_model = draft.get(), .target_model = model.get()});
  const test::Ids prompt{1, 2, 3, 1, 2};
  for (const char* name : {"coupled", "rejection"}) {
    CAPTURE(name);
    const auto verifier = find_verifier(name).make();
    Session session(*model, nullptr, drafter.get(), *verifier);
    GenerateOptions options = test::options_of(200, 4);
    options.sampling = {.temperature = 1.0, .top_p = 0.95, .seed = 1};
    static_cast<void>(session.generate(prompt, options));
    session.reset();
    long allocations = -1;
    int tokens = 0;
    static_cast<void>(session.generate(prompt, options, [&](const TokenEvent&) {
      if (++tokens == 50) test::reset_allocation_count();
      if (tokens == 150) allocations = test::allocation_count();
      return true;
    }));
    CHECK(allocations == 0);
  }
}

TEST_CASE("guard: the counter sees allocations") {
  test::reset_allocation_count();
  ::operator delete(::operator new(1000));
  CHECK(test::allocation_count() == 1);
}
