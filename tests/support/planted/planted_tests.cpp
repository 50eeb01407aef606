// Tests that fail or do nothing, for scripts/check_self_tests.sh, which looks at what the tests' main function makes of
// them.
#include <doctest/doctest.h>

#include "tests/support/skips.h"

namespace {

TEST_CASE("right") { CHECK(1 == 1); }

TEST_CASE("wrong") { CHECK(1 == 2); }

TEST_CASE("empty") {}

TEST_CASE("skipped") { minitorch::test::note_skipped("planted"); }

}  // namespace
