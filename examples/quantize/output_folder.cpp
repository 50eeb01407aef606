// Checks before anything is written, and the change of names at the end.
#include "examples/quantize/output_folder.h"

#include <fcntl.h>  // AT_FDCWD
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>   // std::rename, renameat2
#include <cstring>  // std::strerror
#include <string>
#include <string_view>
#include <system_error>

#include "minitorch/base/check.h"
#include "minitorch/io/file.h"
#include "models/packed_file.h"

namespace minitorch::quantize {
namespace {

namespace fs = std::filesystem;

// Of a model folder, what is copied as it is.
constexpr std::array<std::string_view, 10> kCopiedFiles{"config.json",
                                                        "generation_config.json",
                                                        "tokenizer.json",
                                                        "tokenizer_config.json",
                                                        "special_tokens_map.json",
                                                        "added_tokens.json",
                                                        "vocab.json",
                                                        "merges.txt",
                                                        "chat_template.jinja",
                                                        "tokenizer.model"};

bool is_of_packed_folder(const std::string& name) {
  return name == models::kPackedFileName ||
         std::find(kCopiedFiles.begin(), kCopiedFiles.end(), name) != kCopiedFiles.end();
}

// The first file that quantize did not write; empty when there is none.
std::string foreign_file(const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!is_of_packed_folder(name)) return name;
  }
  return {};
}

void check_replaceable(const fs::path& path, bool replace) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return;
  MT_CHECK_AS(IoError, fs::is_directory(path, ignored), "{}: expected a new or empty folder, got a file",
              path.string());
  if (fs::is_empty(path)) return;
  const std::string foreign = foreign_file(path);
  const bool is_packed = !io::is_absent(path / models::kPackedFileName);
  MT_CHECK_AS(IoError, is_packed && foreign.empty(), "{}: expected a new or empty folder, got one that holds {}",
              path.string(), foreign.empty() ? "a model that is not packed" : foreign);
  MT_CHECK_AS(IoError, replace, "{}: expected a new or empty folder, got a packed model (--force replaces it)",
              path.string());
}

[[noreturn]] void refuse_name(const fs::path& path) {
  const int code = errno;
  fail<IoError>("{}: cannot make this folder: {}", path.string(), std::strerror(code));
}

// Removes what quantize wrote, and the folder where nothing else is left in it.
void remove_former(const fs::path& folder) {
  std::error_code ignored;
  fs::remove(folder / models::kPackedFileName, ignored);
  for (const std::string_view name : kCopiedFiles) fs::remove(folder / name, ignored);
  fs::remove(folder, ignored);
}

}  // namespace

OutputFolder::OutputFolder(const fs::path& path, bool replace) : replace_(replace) {
  MT_CHECK_AS(IoError, !path.empty(), "'': expected the name of a folder to make");
  check_replaceable(path, replace);
  std::error_code error;
  real_ = fs::weakly_canonical(fs::absolute(path), error);
  if (error) real_ = fs::absolute(path);
  if (!real_.has_filename()) real_ = real_.parent_path();  // "folder/"
  temporary_ = real_;
  temporary_ += fmt::format(".{}.tmp", getpid());
  const bool made = fs::create_directory(temporary_, error);
  MT_CHECK_AS(IoError, !error && made, "{}: cannot make this folder: {}", path.string(),
              error ? error.message() : fmt::format("{} is in the way", temporary_.string()));
}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  if (!published_) fs::remove_all(temporary_, ignored);
}

void OutputFolder::copy_model_files(const fs::path& source) const {
  for (const std::string_view name : kCopiedFiles) {
    if (io::is_absent(source / name)) continue;
    std::error_code error;
    fs::copy_file(source / name, temporary_ / name, error);
    MT_CHECK_AS(IoError, !error, "{}: cannot copy this file: {}", (source / name).string(), error.message());
  }
}

void OutputFolder::publish() {
  std::error_code ignored;
  check_replaceable(real_, replace_);  // again: packing takes a while, and another one may have been faster
  if (fs::exists(real_, ignored)) {
    take_place_of_former();
  } else if (std::rename(temporary_.c_str(), real_.c_str()) != 0) {
    refuse_name(real_);
  }
  published_ = true;
}

// The folders change names in one step; where the file system cannot do that, the former one steps aside first.
void OutputFolder::take_place_of_former() const {
  if (renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, real_.c_str(), RENAME_EXCHANGE) == 0) {
    return remove_former(temporary_);
  }
  const fs::path former = temporary_.string() + ".former";
  if (std::rename(real_.c_str(), former.c_str()) != 0) refuse_name(real_);
  if (std::rename(temporary_.c_str(), real_.c_str()) != 0) {
    const int code = errno;
    static_cast<void>(std::rename(former.c_str(), real_.c_str()));
    errno = code;
    refuse_name(real_);
  }
  remove_former(former);
}

}  // namespace minitorch::quantize
