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

}  // namespace

InputFile::InputFile(const std::filesystem::path& path) : path_(path) {
  descriptor_ = uninterrupted([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC); });
  if (descriptor_ < 0) fail_with_errno(path_, "cannot open");
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

OutputFile::OutputFile(const std::filesystem::path& path) : path_(path) {
  static std::atomic<unsigned> counter{0};
  temporary_ = path;
  temporary_ += fmt::format(".{}.{}.tmp", getpid(), counter.fetch_add(1));
  constexpr mode_t kReadWriteForAll = 0666;  // less the process's umask
  descriptor_ = uninterrupted(
      [&] { return open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kReadWriteForAll); });
  if (descriptor_ < 0) fail_with_errno(path_, "cannot create");
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  unlink(temporary_.c_str());
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
  const bool closed = close(descriptor) == 0;  // some file systems report a full disk only here
  if (closed && std::rename(temporary_.c_str(), path_.c_str()) == 0) return;
  const int code = errno;
  unlink(temporary_.c_str());
  errno = code;
  fail_with_errno(path_, "cannot write");
}

}  // namespace minitorch::io
