// Finding the embedded pair: the order of the places, what counts as a pair, and an error that lists them all.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>  // setenv
#include <optional>

#include "minitorch/base/error.h"
#include "models/embedded_pair.h"
#include "tests/support/data.h"

using namespace minitorch;
namespace fs = std::filesystem;

namespace {

void make_model(const fs::path& folder) {
  fs::create_directories(folder);
  test::write_file(folder / "config.json", "{}");
}

void make_pair_in(const fs::path& folder) {
  make_model(folder / "target");
  make_model(folder / "draft");
}

// Sets MINITORCH_MODELS, null: takes it away; restores it at the end of scope.
class ModelsVariable {
 public:
  explicit ModelsVariable(const char* value) {
    if (const char* former = std::getenv(kName); former != nullptr) former_ = former;
    set(value);
  }
  ~ModelsVariable() { set(former_.has_value() ? former_->c_str() : nullptr); }
  ModelsVariable(const ModelsVariable&) = delete;
  ModelsVariable& operator=(const ModelsVariable&) = delete;

 private:
  static constexpr const char* kName = "MINITORCH_MODELS";
  static void set(const char* value) { value != nullptr ? ::setenv(kName, value, 1) : ::unsetenv(kName); }
  std::optional<std::string> former_;
};

class WorkingFolder {
 public:
  explicit WorkingFolder(const fs::path& folder) : former_(fs::current_path()) { fs::current_path(folder); }
  ~WorkingFolder() { fs::current_path(former_); }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;

 private:
  fs::path former_;
};

}  // namespace

TEST_CASE("the first place that holds both models is taken, and half a pair is none") {
  const test::TemporaryFolder folder;
  const fs::path half = folder.path() / "half";
  const fs::path empty = folder.path() / "empty";
  const fs::path first = folder.path() / "first";
  const fs::path second = folder.path() / "second";
  make_model(half / "target");
  fs::create_directories(half / "draft");
  fs::create_directories(empty);
  make_pair_in(first);
  make_pair_in(second);
  CHECK(models::find_pair(std::vector<fs::path>{folder.path() / "none", empty, half, first, second}) == first);
  CHECK(models::find_pair(std::vector<fs::path>{second, first}) == second);
}

TEST_CASE("without a pair one error lists every place") {
  const test::TemporaryFolder folder;
  const std::string a = (folder.path() / "a").string();
  const std::string b = (folder.path() / "b").string();
  const std::string expected =
      "embedded models: expected a folder that holds target/config.json and draft/config.json, found none in: " + a +
      ", " + b + " (MINITORCH_MODELS names another)";
  CHECK_THROWS_WITH_AS(static_cast<void>(models::find_pair(std::vector<fs::path>{a, b})), expected.c_str(), Error);
}

TEST_CASE("the pair is looked for beside the running program, then in the source tree, wherever one stands") {
  const ModelsVariable variable(nullptr);
  const test::TemporaryFolder folder;
  const std::vector<fs::path> here = models::embedded_pair_candidates();
  const WorkingFolder elsewhere(folder.path());
  CHECK(models::embedded_pair_candidates() == here);
  REQUIRE(here.size() == 2);
  const fs::path program = fs::canonical("/proc/self/exe");
  CHECK(here[0] == program.parent_path().parent_path() / "share/minitorch/tiny_r1");
  CHECK(here[1] == fs::path(MINITORCH_SOURCE_DIR) / "models/tiny_r1");
  CHECK(std::all_of(here.begin(), here.end(), [](const fs::path& path) { return path.is_absolute(); }));
}

TEST_CASE("MINITORCH_MODELS comes first, names the pair or the folder above it, and may be relative") {
  const test::TemporaryFolder folder;
  const WorkingFolder inside(folder.path());
  make_pair_in(folder.path() / "mine");
  make_pair_in(folder.path() / "all/tiny_r1");
  {
    const ModelsVariable variable((folder.path() / "mine").c_str());
    CHECK(models::find_embedded_pair() == folder.path() / "mine");
  }
  {
    const ModelsVariable variable((folder.path() / "all").c_str());
    CHECK(models::find_embedded_pair() == folder.path() / "all/tiny_r1");
  }
  {
    const ModelsVariable variable("mine");
    CHECK(models::find_embedded_pair() == fs::current_path() / "mine");
  }
  const ModelsVariable variable("");
  CHECK(models::embedded_pair_candidates().size() == 2);
}
