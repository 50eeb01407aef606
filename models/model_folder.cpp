// Messages about folders that are none, or lack a file.
#include "models/model_folder.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "minitorch/base/check.h"
#include "minitorch/io/file.h"

namespace minitorch::models {
namespace fs = std::filesystem;

namespace {

fs::path folder_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

}  // namespace

void check_model_folder(const fs::path& directory, std::initializer_list<std::string_view> files) {
  std::error_code ignored;
  if (!fs::is_directory(directory, ignored)) {
    MT_CHECK_AS(IoError, !fs::exists(directory, ignored), "{}: expected a model folder, got a file; its folder is {}",
                directory.string(), folder_of(directory).string());
    fail<IoError>("{}: expected a model folder, got no such folder (nothing is downloaded: give a local folder)",
                  directory.string());
  }
  const bool lacks_all =
      std::all_of(files.begin(), files.end(), [&](std::string_view file) { return io::is_absent(directory / file); });
  MT_CHECK_AS(IoError, !lacks_all, "{} is not a model folder (no {})", directory.string(), fmt::join(files, " or "));
}

}  // namespace minitorch::models
