// Running a program at a terminal of its own, as a user who types and reads does.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>  // login_tty

#include <algorithm>  // std::min, std::max
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/skips.h"  // note_skipped

namespace minitorch::test {

// Whether this machine has pseudo-terminals; a bare chroot has none. If not, notes the current test as skipped.
inline bool have_pseudo_terminals() {
  int terminal = -1;
  int program_side = -1;
  if (openpty(&terminal, &program_side, nullptr, nullptr, nullptr) != 0) {
    note_skipped("no pseudo-terminals here");
    return false;
  }
  close(terminal);
  close(program_side);
  return true;
}

// A program of this build.
inline std::filesystem::path built_program(const std::string& name) {
  return std::filesystem::path(MINITORCH_BINARY_DIR) / "bin" / name;
}

// A program whose stdin, stdout and stderr are one pseudo-terminal, which is its controlling terminal. The terminal
// works on lines as usual: it hands over a line at its newline (at most 4095 bytes of it), Ctrl-C is SIGINT, Ctrl-D at
// the beginning of a line the end of input. Other than usual, it neither echoes what is typed nor writes "\n" as
// "\r\n": what comes is what the program wrote.
class PtyProgram {
 public:
  using Clock = std::chrono::steady_clock;
  // Enough for a program that loads a model under sanitizers on a busy machine.
  static constexpr std::chrono::milliseconds kTimeout = std::chrono::seconds(60);

  // Exit code 255 where there is no such program.
  PtyProgram(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
    std::vector<std::string> all{program.string()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& argument : all) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    start([&] { return execv(pointers[0], pointers.data()); });
  }
  // Runs a function instead, in a child of this process; what it returns is the exit code. Only the calling thread goes
  // on in the child, and only the terminal's three descriptors are for it.
  explicit PtyProgram(const std::function<int()>& body) { start(body); }

  ~PtyProgram() {
    if (pid_ > 0) end_by_force();
    close(terminal_);
  }
  PtyProgram(const PtyProgram&) = delete;
  PtyProgram& operator=(const PtyProgram&) = delete;

  void send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t count = write(terminal_, text.data(), text.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) throw std::runtime_error("cannot type at the terminal");
      text.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  void send_line(std::string_view text) const { send(std::string(text) + "\n"); }
  void send_interrupt() const { send("\x03"); }
  // At the beginning of a line only: elsewhere the terminal hands over what was typed of the line, and nothing ends.
  void send_end_of_input() const { send("\x04"); }

  // Whether `text` comes behind what was waited for before; if so, what stands behind it is next.
  [[nodiscard]] bool comes(std::string_view text, std::chrono::milliseconds timeout = kTimeout) {
    const Clock::time_point deadline = Clock::now() + timeout;
    do {
      const std::size_t found = output_.find(text, seen_);
      if (found == std::string::npos) continue;
      seen_ = found + text.size();
      return true;
    } while (read_some(deadline));
    return false;
  }
  // Fails the test, with what came instead, when `text` does not come.
  void expect(std::string_view text, std::chrono::milliseconds timeout = kTimeout) {
    if (!comes(text, timeout)) FAIL("expected '", std::string(text), "' on the terminal, got '", unseen(), "'");
  }

  // The exit code, 128 + signal where a signal ended it; then output() is complete. Nothing when the program had to be
  // killed because it did not end in time.
  [[nodiscard]] std::optional<int> exit_code(std::chrono::milliseconds timeout = kTimeout) {
    if (pid_ <= 0) throw std::logic_error("the program's end was waited for already");
    const Clock::time_point deadline = Clock::now() + timeout;
    int status = 0;
    while (waitpid(pid_, &status, WNOHANG) == 0) {
      if (Clock::now() >= deadline) {
        end_by_force();
        return std::nullopt;
      }
      // Output is read while waiting, because a full terminal would stop the program.
      if (!read_some(std::min(deadline, Clock::now() + kStep))) usleep(1000);
    }
    pid_ = -1;
    while (read_some(Clock::now())) continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  void expect_exit_code(int code, std::chrono::milliseconds timeout = kTimeout) {
    const std::optional<int> result = exit_code(timeout);
    INFO("the terminal's last output: '", unseen(), "'");
    REQUIRE_MESSAGE(result.has_value(), "the program did not end in time");
    CHECK(*result == code);
  }

  // All that was read so far, and of it what no expect() has passed.
  [[nodiscard]] const std::string& output() const { return output_; }
  [[nodiscard]] std::string unseen() const { return output_.substr(seen_); }

 private:
  static constexpr std::chrono::milliseconds kStep{20};

  void start(const std::function<int()>& body) {
    int program_side = -1;
    const winsize size{.ws_row = 50, .ws_col = 200, .ws_xpixel = 0, .ws_ypixel = 0};
    if (openpty(&terminal_, &program_side, nullptr, nullptr, &size) != 0)
      throw std::runtime_error("cannot open a pseudo-terminal");
    fcntl(terminal_, F_SETFD, FD_CLOEXEC);  // another program would keep it alive
    termios mode{};
    tcgetattr(program_side, &mode);
    mode.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    mode.c_oflag &= ~static_cast<tcflag_t>(ONLCR);
    tcsetattr(program_side, TCSANOW, &mode);
    pid_ = fork();
    if (pid_ == 0) {
      close(terminal_);
      login_tty(program_side);
      std::signal(SIGINT, SIG_DFL);  // shells start background jobs with it ignored
      _exit(code_of(body));
    }
    close(program_side);
    if (pid_ < 0) throw std::runtime_error("cannot start a process");
  }

  // An exception must not go on in the child: it would run the caller's code there.
  static int code_of(const std::function<int()>& body) noexcept { return body(); }

  // Waits until the deadline for output and adds it. False: nothing came, or the program has closed the terminal.
  bool read_some(Clock::time_point deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd waited{.fd = terminal_, .events = POLLIN, .revents = 0};
    const int ready = poll(&waited, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready < 0 && errno == EINTR) return read_some(deadline);
    if (ready <= 0) return false;
    char bytes[4096];
    const ssize_t count = read(terminal_, bytes, sizeof bytes);
    if (count <= 0) return false;  // EIO: nobody has the other side open
    output_.append(bytes, static_cast<std::size_t>(count));
    return true;
  }

  void end_by_force() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

  pid_t pid_ = -1;
  int terminal_ = -1;
  std::string output_;
  std::size_t seen_ = 0;
};

}  // namespace minitorch::test

// Leaves the test case where there are no pseudo-terminals.
#define MT_REQUIRE_PSEUDO_TERMINALS()                        \
  do {                                                       \
    if (!::minitorch::test::have_pseudo_terminals()) return; \
  } while (false)
