// The test support itself: folders, files, and what counts as a skipped test.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/data.h"

namespace minitorch::test {
namespace {
namespace fs = std::filesystem;

// Sets an environment variable for a scope.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~ScopedVariable() { setenv(name_, old_.c_str(), 1); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* name_;
  std::string old_;  // empty counts as unset for the variables used here
};

std::string read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// What happens to a test that asks for data which `folder` lacks.
void ask_for_missing_data() { MT_REQUIRE_DATA("no/such/file"); }

TEST_CASE("a temporary folder goes away with its content") {
  fs::path path;
  {
    const TemporaryFolder folder;
    path = folder.path();
    write_file(path / "a/b.txt", "text");
    CHECK(read_file(path / "a/b.txt") == "text");
  }
  CHECK_FALSE(fs::exists(path));
}

TEST_CASE("two temporary folders differ") {
  const TemporaryFolder first;
  const TemporaryFolder second;
  CHECK(first.path() != second.path());
}

TEST_CASE("the data folder follows MINITORCH_DATA and else stands beside the repository, whatever the working folder") {
  {
    const ScopedVariable variable("MINITORCH_DATA", "/elsewhere");
    CHECK(data_folder() == "/elsewhere");
  }
  const ScopedVariable variable("MINITORCH_DATA", "");
  CHECK(data_folder() == (fs::path(MINITORCH_SOURCE_DIR).parent_path() / "shared/data"));
}

TEST_CASE("missing data is logged as a skipped test with its reason") {
  const TemporaryFolder folder;
  const fs::path log = folder.path() / "skips";
  const ScopedVariable data("MINITORCH_DATA", folder.path().string());
  const ScopedVariable variable("MINITORCH_SKIP_LOG", log.string());
  REQUIRE_FALSE(test_was_skipped());
  ask_for_missing_data();
  CHECK(test_was_skipped());
  const std::string text = read_file(log);
  CAPTURE(text);
  CHECK(text.find("missing data is logged as a skipped test with its reason\tno no/such/file in the data folder ") !=
        std::string::npos);
  CHECK(text.back() == '\n');
}

TEST_CASE("an empty file is not an .xz file") {
  const TemporaryFolder folder;
  write_file(folder.path() / "empty.xz", "");
  CHECK_THROWS(read_xz(folder.path() / "empty.xz"));
  CHECK_THROWS(read_xz(folder.path() / "absent.xz"));
}

TEST_CASE("empty lines of a .jsonl file do not count") {
  const TemporaryFolder folder;
  write_file(folder.path() / "lines.jsonl", "{\"a\": 1}\n\n{\"a\": 2}");
  const auto lines = read_jsonl(folder.path() / "lines.jsonl");
  REQUIRE(lines.size() == 2);
  CHECK(lines[1].at("a") == 2);
  CHECK_THROWS(read_jsonl(folder.path() / "absent.jsonl"));
}

}  // namespace
}  // namespace minitorch::test
