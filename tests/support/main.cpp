// doctest's main for all test executables, stricter than doctest's own: a filter that matches no test is a failure, so
// that a misspelt name cannot pass, and so is a test case that neither checks anything nor says that it was skipped.
//
// The counts go to the file named by MINITORCH_COUNT_LOG, one line "cases run, cases failed", where scripts/test.sh
// sums them.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>  // std::getenv, setenv
#include <string_view>

#include "tests/support/skips.h"

namespace {

struct RunCounter : doctest::IReporter {
  static inline unsigned matched = 0;
  static inline unsigned failed = 0;
  const char* name = "";

  explicit RunCounter(const doctest::ContextOptions&) {}
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats& stats) override {
    matched = stats.numTestCasesPassingFilters;
    failed += stats.numTestCasesFailed;
  }
  void test_case_start(const doctest::TestCaseData& test) override {
    name = test.m_name;
    minitorch::test::begin_test();
    if (std::string_view(name).find(';') != std::string_view::npos) {
      std::fprintf(stderr, "ERROR: the name of a test must not contain ';': %s\n", name);
      ++failed;
    }
  }
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    if (stats.numAssertsCurrentTest > 0 || !stats.testCaseSuccess || minitorch::test::test_was_skipped()) return;
    std::fprintf(stderr, "ERROR: this test checked nothing: %s\n", name);
    ++failed;
  }
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};
DOCTEST_REGISTER_LISTENER("run_counter", 1, RunCounter);

void log_counts() {
  const char* path = std::getenv("MINITORCH_COUNT_LOG");
  if (path == nullptr || *path == '\0') return;
  std::FILE* log = std::fopen(path, "a");  // short appends of several processes do not mix
  if (log == nullptr) return;
  std::fprintf(log, "%u %u\n", RunCounter::matched, RunCounter::failed);
  std::fclose(log);
}

}  // namespace

int main(int argc, char** argv) {
  // Programs under test leave nothing in the cache folder of whoever runs the tests.
  setenv("MINITORCH_CACHE", MINITORCH_BINARY_DIR "/tests/cache", /*overwrite=*/0);
  doctest::Context context(argc, argv);
  const int result = context.run();
  if (context.shouldExit()) return result;  // a question such as --count or --list-test-cases
  if (RunCounter::matched == 0) {
    std::fprintf(stderr, "ERROR: no test matches the filter\n");
    return 1;
  }
  std::printf("%u test cases run, %u failed\n", RunCounter::matched, RunCounter::failed);
  log_counts();
  return RunCounter::failed > 0 ? 1 : result;
}
