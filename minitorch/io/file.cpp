// Reading and writing by file descriptor.
#include "minitorch/io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>   // std::rename
#include <cstring>  // std::strerror
#include <string>
#include <utility>

#include "minitorch/base/check.h"

namespace minitorch::io {
namespace fs = std::filesystem;

namespace {

// Linux moves at most 2 GiB - 4 KiB per call.
constexpr std::size_t kMaxTransfer = std::size_t{1} << 30;

[[noreturn]] void fail_with_errno(const std::filesystem::path& path, const char* what) {
  const int code = errno;
  fail<IoError>("{}: {}: {}", path.string(), what, std::strerror(code));
}

// Repeats a system call that a signal interrupted.
template <typename Call>
auto uninterrupted(const Call& call) {
  while (true) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

bool is_standard_output(const fs::path& path) {
  struct stat named {};
  struct stat output {};
  return stat(path.c_str(), &named) == 0 && fstat(STDOUT_FILENO, &output) == 0 && named.st_dev == output.st_dev &&
         named.st_ino == output.st_ino;
}

bool is_written_directly(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return fs::exists(status) && (!fs::is_regular_file(status) || is_standard_output(path));
}

// The file as a name that linkat takes.
std::string name_in_proc(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

}  // namespace

InputFile::InputFile(const std::filesystem::path& path, Accept accept) : path_(path) {
  // Opening a pipe waits for a writer, without O_NONBLOCK.
  const int flags = O_RDONLY | O_CLOEXEC | (accept == Accept::kRegularFiles ? O_NONBLOCK : 0);
  descriptor_ = uninterrupted([&] { return open(path.c_str(), flags); });
  if (descriptor_ < 0) fail_with_errno(path_, "cannot open");
  if (accept == Accept::kPipesAndDevices) return;
  struct stat status {};
  if (fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode)) return;
  close(std::exchange(descriptor_, -1));
  fail<IoError>("{}: expected a regular file, got {}", path_.string(),
                S_ISDIR(status.st_mode) ? "a folder" : "a pipe or device");
}

InputFile InputFile::standard_input() {
  const int descriptor = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0) fail_with_errno("standard input", "cannot be read");
  return {"standard input", descriptor};
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

std::uint64_t InputFile::regular_size() const {
  struct stat status {};
  if (fstat(descriptor_, &status) != 0) fail_with_errno(path_, "cannot read its size");
  MT_CHECK_AS(IoError, S_ISREG(status.st_mode), "{}: expected a regular file", path_.string());
  return static_cast<std::uint64_t>(status.st_size);
}

void InputFile::read_at(std::uint64_t offset, std::span<std::byte> destination) const {
  while (!destination.empty()) {
    const std::size_t wanted = std::min(destination.size(), kMaxTransfer);
    const ssize_t count =
        uninterrupted([&] { return pread(descriptor_, destination.data(), wanted, static_cast<off_t>(offset)); });
    if (count < 0) fail_with_errno(path_, "cannot read");
    MT_CHECK_AS(IoError, count > 0, "{}: expected {} more bytes at offset {}, but the file ends there", path_.string(),
                destination.size(), offset);
    offset += static_cast<std::uint64_t>(count);
    destination = destination.subspan(static_cast<std::size_t>(count));
  }
}

std::size_t InputFile::read_some(std::span<std::byte> destination) {
  const std::size_t wanted = std::min(destination.size(), kMaxTransfer);
  const ssize_t count = uninterrupted([&] { return read(descriptor_, destination.data(), wanted); });
  if (count < 0) fail_with_errno(path_, "cannot read");
  return static_cast<std::size_t>(count);
}

bool is_absent(const fs::path& path) {
  std::error_code ignored;
  return fs::symlink_status(path, ignored).type() == fs::file_type::not_found;
}

OutputFile::OutputFile(const fs::path& path) : path_(path) {
  std::error_code ignored;
  MT_CHECK_AS(IoError, !path.empty() && !fs::is_directory(path, ignored), "'{}': expected the name of a file to write",
              path.string());
  if (is_written_directly(path)) {
    open_directly();
  } else {
    open_beside();
  }
}

void OutputFile::open_directly() {
  std::fflush(stdout);  // what is printed already comes before
  descriptor_ = is_standard_output(path_) ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                                          : uninterrupted([&] { return open(path_.c_str(), O_WRONLY | O_CLOEXEC); });
  if (descriptor_ < 0) fail_with_errno(path_, "cannot open");
}

// Where the system can, the temporary file has no name until commit(), so that nothing remains of a process that is
// killed.
void OutputFile::open_beside() {
  static std::atomic<unsigned> counter{0};
  std::error_code ignored;
  real_ = fs::weakly_canonical(path_, ignored);
  if (real_.empty()) real_ = path_;
  temporary_ = real_;
  temporary_ += fmt::format(".{}.{}.tmp", getpid(), counter.fetch_add(1));
  constexpr mode_t kReadWriteForAll = 0666;  // less the process's umask
  const fs::path folder = real_.has_parent_path() ? real_.parent_path() : fs::path(".");
  descriptor_ = uninterrupted([&] { return open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, kReadWriteForAll); });
  if (descriptor_ >= 0 && access(name_in_proc(descriptor_).c_str(), F_OK) != 0) close(std::exchange(descriptor_, -1));
  if (descriptor_ < 0) {
    has_name_ = true;
    descriptor_ = uninterrupted(
        [&] { return open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kReadWriteForAll); });
  }
  if (descriptor_ < 0) fail_with_errno(path_, "cannot create");
  struct stat former {};
  if (stat(real_.c_str(), &former) == 0) static_cast<void>(fchmod(descriptor_, former.st_mode & 07777));
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  if (has_name_) unlink(temporary_.c_str());
}

void OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t wanted = std::min(bytes.size(), kMaxTransfer);
    const ssize_t count = uninterrupted([&] { return ::write(descriptor_, bytes.data(), wanted); });
    if (count < 0) fail_with_errno(path_, "cannot write");
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void OutputFile::commit() {
  const int descriptor = std::exchange(descriptor_, -1);
  const bool published = publish(descriptor);
  const int code = errno;
  const bool closed = close(descriptor) == 0;  // some file systems report a full disk only here
  if (published && closed) return;
  if (!published) errno = code;
  fail_with_errno(path_, "cannot write");
}

// Gives the complete file its name. False, with errno: it could not.
bool OutputFile::publish(int descriptor) const {
  if (temporary_.empty()) return true;
  if (!has_name_ &&
      linkat(AT_FDCWD, name_in_proc(descriptor).c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    return false;
  }
  if (std::rename(temporary_.c_str(), real_.c_str()) == 0) return true;
  const int code = errno;
  unlink(temporary_.c_str());
  errno = code;
  return false;
}

}  // namespace minitorch::io
