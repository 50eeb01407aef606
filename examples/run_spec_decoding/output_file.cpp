// Writing a file under a temporary name first.
#include "examples/run_spec_decoding/output_file.h"

#include <unistd.h>  // getpid

#include <cerrno>
#include <cstdio>
#include <cstring>  // std::strerror
#include <memory>
#include <string>

#include "minitorch/base/check.h"

namespace minitorch::run_spec_decoding {
namespace fs = std::filesystem;

namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

// `shown` is the name the user gave.
File open_for_writing(const fs::path& path, const fs::path& shown) {
  File file(std::fopen(path.c_str(), "wb"));
  MT_CHECK_AS(IoError, file != nullptr, "{}: cannot be written: {}", shown.string(), std::strerror(errno));
  return file;
}

bool is_special_file(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return fs::exists(status) && !fs::is_regular_file(status);
}

// Follows links, so that the file they name is replaced and not the link.
fs::path real_path(const fs::path& path) {
  std::error_code ignored;
  const fs::path real = fs::weakly_canonical(path, ignored);
  return real.empty() ? path : real;
}

fs::path temporary_name(const fs::path& path) { return path.string() + ".tmp." + std::to_string(getpid()); }

void write_all(File file, const fs::path& shown, std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  const bool closed = std::fclose(file.release()) == 0;  // flushes: a full disk shows here
  MT_CHECK_AS(IoError, written && closed, "{}: cannot be written: {}", shown.string(), std::strerror(errno));
}

}  // namespace

void check_writable(const fs::path& path) {
  std::error_code ignored;
  MT_CHECK_AS(IoError, !path.empty() && !fs::is_directory(path, ignored), "'{}': expected the name of a file to write",
              path.string());
  if (is_special_file(path)) return;
  const fs::path temporary = temporary_name(real_path(path));
  open_for_writing(temporary, path);
  fs::remove(temporary);
}

void write_atomically(const fs::path& path, std::string_view text) {
  if (is_special_file(path)) {
    write_all(open_for_writing(path, path), path, text);
    return;
  }
  const fs::path real = real_path(path);
  const fs::path temporary = temporary_name(real);
  try {
    write_all(open_for_writing(temporary, path), path, text);
    fs::rename(temporary, real);
  } catch (...) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw;
  }
}

}  // namespace minitorch::run_spec_decoding
