// Where tests find their data, and files they read and write.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/support/skips.h"  // note_skipped

namespace minitorch::test {

// Small golden files committed with the tests: tests/data/<name>.
[[nodiscard]] std::filesystem::path golden_file(const std::string& name);

// The external data folder: MINITORCH_DATA, or ../shared/data seen from the repository root.
[[nodiscard]] std::filesystem::path data_folder();

// True when `name` exists below data_folder(). Otherwise notes the current test as skipped, with the reason, and
// returns false.
[[nodiscard]] bool have_data(const std::string& name);

// Every line of a .jsonl file.
[[nodiscard]] std::vector<nlohmann::json> read_jsonl(const std::filesystem::path& path);
// The content of an .xz file.
[[nodiscard]] std::string read_xz(const std::filesystem::path& path);

// A fresh folder below the system's temporary folder, removed with its content at the end of scope.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};
void write_file(const std::filesystem::path& path, std::string_view content);

}  // namespace minitorch::test

// Leaves the test case when the data is absent.
#define MT_REQUIRE_DATA(name)                        \
  do {                                               \
    if (!::minitorch::test::have_data(name)) return; \
  } while (false)
