// read(2) behind poll(2). stdio and iostreams would take in lines that poll then does not see.
#include "examples/common/line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>  // std::strerror
#include <utility>

#include "minitorch/base/check.h"

namespace minitorch {
namespace {

constexpr std::size_t kReadBytes = 4096;

}  // namespace

LineReader::LineReader(int descriptor, std::string name, int wake)
    : descriptor_(descriptor), name_(std::move(name)), wake_(wake) {}

LineResult LineReader::read_line() {
  LineResult result{.status = LineStatus::kLine};
  if (!wait(/*for_input=*/false)) return {.status = LineStatus::kInterrupted};
  while (!take_line(result.line)) {
    if (ended_) return take_rest();
    if (!wait(/*for_input=*/true)) return {.status = LineStatus::kInterrupted};
    read_more();
  }
  return result;
}

bool LineReader::take_line(std::string& line) {
  const std::size_t newline = buffer_.find('\n', searched_);
  searched_ = newline == std::string::npos ? buffer_.size() : newline + 1;
  if (newline == std::string::npos) return false;
  const bool has_return = newline > begin_ && buffer_[newline - 1] == '\r';
  line.assign(buffer_, begin_, newline - begin_ - (has_return ? 1 : 0));
  begin_ = searched_;
  return true;
}

LineResult LineReader::take_rest() {
  if (begin_ == buffer_.size()) return {.status = LineStatus::kEnd};
  LineResult result{.status = LineStatus::kLine, .line = buffer_.substr(begin_)};
  begin_ = searched_ = buffer_.size();
  return result;
}

// False: interrupted. Otherwise true, with `for_input` when the input has something to read, an error or its end.
bool LineReader::wait(bool for_input) {
  pollfd waited[] = {{.fd = wake_, .events = POLLIN, .revents = 0},
                     {.fd = for_input ? descriptor_ : -1, .events = POLLIN, .revents = 0}};
  // EINTR: a handler ran. What it had to say stands in `wake`.
  while (poll(waited, 2, for_input ? -1 : 0) < 0) {
    MT_CHECK_AS(IoError, errno == EINTR, "{}: cannot be waited for: {}", name_, std::strerror(errno));
  }
  return waited[0].revents == 0;
}

void LineReader::read_more() {
  buffer_.erase(0, begin_);
  searched_ -= std::exchange(begin_, 0);
  const std::size_t size = buffer_.size();
  buffer_.resize(size + kReadBytes);
  const ssize_t count = read(descriptor_, buffer_.data() + size, kReadBytes);
  const int error = errno;
  buffer_.resize(size + static_cast<std::size_t>(count > 0 ? count : 0));
  if (count < 0) {
    // EAGAIN: of a descriptor that does not block, somebody else read the input first.
    MT_CHECK_AS(IoError, error == EINTR || error == EAGAIN, "{}: cannot be read: {}", name_, std::strerror(error));
  }
  ended_ = count == 0;
}

}  // namespace minitorch
