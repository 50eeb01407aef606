// How a test says that it was skipped, and what it measured.
#pragma once

#include <string>

namespace minitorch::test {

// Notes the current test as skipped. Skipped tests are counted and shown by scripts/test.sh, through the file that
// MINITORCH_SKIP_LOG names: one line "test <tab> reason" each.
void note_skipped(const std::string& reason);

// Prints a line that scripts/test.sh shows after the suite even when all tests pass: counts of cases, measured times.
void report_result(const std::string& text);

// For the main function of the tests: the start of a test, and whether it has been noted as skipped since.
void begin_test();
[[nodiscard]] bool test_was_skipped();

}  // namespace minitorch::test
