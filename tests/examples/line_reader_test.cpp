// LineReader over pipes, files and terminals, with and without interrupts.
#include "examples/common/line_reader.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "minitorch/base/error.h"
#include "tests/examples/pty_program.h"
#include "tests/support/data.h"

namespace minitorch::test {
namespace {

using namespace std::literals;
using Lines = std::vector<std::string>;

class Pipe {
 public:
  Pipe() { REQUIRE(pipe2(ends_, O_CLOEXEC) == 0); }
  ~Pipe() {
    close(ends_[0]);
    end();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  [[nodiscard]] int output() const { return ends_[0]; }
  void send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t count = write(ends_[1], text.data(), text.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) throw std::runtime_error("cannot write to a pipe");
      text.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  void end() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  int ends_[2] = {-1, -1};
};

// What a program's SIGINT handler has to do, and no more. There is one at a time: handlers have no arguments.
std::atomic<int> wake_of_handler = -1;

class Interrupts {
 public:
  Interrupts() : wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    REQUIRE(wake_ >= 0);
    wake_of_handler = wake_;
    struct sigaction action {};
    action.sa_handler = [](int) { eventfd_write(wake_of_handler, 1); };
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, &before_);
  }
  ~Interrupts() {
    sigaction(SIGINT, &before_, nullptr);
    close(wake_);
  }
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  [[nodiscard]] int wake() const { return wake_; }
  void clear() const {
    eventfd_t count = 0;
    REQUIRE(eventfd_read(wake_, &count) == 0);
  }

 private:
  int wake_;
  struct sigaction before_ {};
};

std::string shown(const LineResult& result) {
  switch (result.status) {
    case LineStatus::kLine: return "line:" + result.line;
    case LineStatus::kEnd: return "end";
    case LineStatus::kInterrupted: return "interrupted";
  }
  return "?";
}

// All lines of `text` that comes in one piece, or byte by byte.
Lines lines_of(std::string_view text, bool byte_by_byte) {
  Pipe input;
  LineReader reader(input.output(), "input");
  std::thread writer([&] {
    const std::size_t piece = byte_by_byte ? 1 : text.size();
    for (std::size_t i = 0; i < text.size(); i += piece) input.send(text.substr(i, piece));
    input.end();
  });
  Lines lines;
  LineResult result;
  while ((result = reader.read_line()).status == LineStatus::kLine) lines.push_back(result.line);
  writer.join();
  CHECK(shown(result) == "end");
  CHECK(shown(reader.read_line()) == "end");
  return lines;
}

void check_lines(std::string_view text, const Lines& expected) {
  CAPTURE(std::string(text));
  CHECK(lines_of(text, /*byte_by_byte=*/false) == expected);
  CHECK(lines_of(text, /*byte_by_byte=*/true) == expected);
}

}  // namespace

TEST_CASE("lines end with a newline, a return and a newline, or the input") {
  check_lines("", {});
  check_lines("hi", {"hi"});
  check_lines("hi\n", {"hi"});
  check_lines("hi\r\n", {"hi"});
  check_lines("\n", {""});
  check_lines("\r\n\n\r\n", {"", "", ""});
  check_lines("a\nb\r\n\nc", {"a", "b", "", "c"});
}

TEST_CASE("a return that stands alone is part of its line") { check_lines("a\rb\n\r\r\nc\r", {"a\rb", "\r", "c\r"}); }

TEST_CASE("lines hold any bytes") { check_lines("a\0b\n\0\n\xFF\xFE\n"sv, {"a\0b"s, "\0"s, "\xFF\xFE"}); }

TEST_CASE("lines may have any length") {
  for (const std::size_t size : {4095, 4096, 4097, 1'000'000}) {
    CAPTURE(size);
    const std::string line(size, 'x');
    CHECK(lines_of(line + "\r\n" + line, /*byte_by_byte=*/false) == Lines{line, line});
  }
}

TEST_CASE("lines that came together are given one by one, before the input goes on or ends") {
  const Pipe input;
  LineReader reader(input.output(), "input");
  input.send("a\nb\nc");
  CHECK(shown(reader.read_line()) == "line:a");
  CHECK(shown(reader.read_line()) == "line:b");
  input.send("d\n");
  CHECK(shown(reader.read_line()) == "line:cd");
}

TEST_CASE("a file and the null device are read to their end") {
  const TemporaryFolder folder;
  write_file(folder.path() / "in", "a\nb");
  const int file = open((folder.path() / "in").c_str(), O_RDONLY | O_CLOEXEC);
  LineReader reader(file, "in");
  CHECK(shown(reader.read_line()) == "line:a");
  CHECK(shown(reader.read_line()) == "line:b");
  CHECK(shown(reader.read_line()) == "end");
  close(file);

  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  CHECK(shown(LineReader(null, "null").read_line()) == "end");
  close(null);
}

TEST_CASE("a descriptor that does not block is waited for all the same") {
  const Pipe input;
  REQUIRE(fcntl(input.output(), F_SETFL, O_NONBLOCK) == 0);
  LineReader reader(input.output(), "input");
  std::thread writer([&] { input.send("late\n"); });
  CHECK(shown(reader.read_line()) == "line:late");
  writer.join();
}

TEST_CASE("input that cannot be read is an error that names it") {
  CHECK_THROWS_WITH_AS((void)LineReader(1'000'000, "the input").read_line(),
                       "the input: cannot be read: Bad file descriptor", IoError);
  const TemporaryFolder folder;
  const int descriptor = open(folder.path().c_str(), O_RDONLY | O_CLOEXEC);
  CHECK_THROWS_WITH_AS((void)LineReader(descriptor, "the input").read_line(),
                       "the input: cannot be read: Is a directory", IoError);
  close(descriptor);
}

TEST_CASE("an interrupt comes before lines that are there, and loses none of them") {
  const Pipe input;
  const Interrupts interrupts;
  LineReader reader(input.output(), "input", interrupts.wake());
  input.send("a\nb\nc");
  CHECK(shown(reader.read_line()) == "line:a");
  std::raise(SIGINT);
  CHECK(shown(reader.read_line()) == "interrupted");
  CHECK(shown(reader.read_line()) == "interrupted");
  interrupts.clear();
  CHECK(shown(reader.read_line()) == "line:b");
  std::raise(SIGINT);
  CHECK(shown(reader.read_line()) == "interrupted");
  interrupts.clear();
  input.send("d\n");
  CHECK(shown(reader.read_line()) == "line:cd");
}

TEST_CASE("an interrupt at any time ends the waiting, whichever thread runs its handler") {
  const Pipe input;
  const Interrupts interrupts;
  LineReader reader(input.output(), "input", interrupts.wake());
  for (int i = 0; i < 500; ++i) {
    CAPTURE(i);
    std::thread other([i] {
      // From before the wait to well into it.
      const auto deadline = PtyProgram::Clock::now() + i * std::chrono::nanoseconds(200);
      while (PtyProgram::Clock::now() < deadline) continue;
      if (i % 2 == 0) {
        kill(getpid(), SIGINT);
      } else {
        std::raise(SIGINT);  // runs the handler in this thread
      }
    });
    REQUIRE(shown(reader.read_line()) == "interrupted");
    other.join();
    interrupts.clear();
  }
  input.send("still here\n");
  CHECK(shown(reader.read_line()) == "line:still here");
}

TEST_CASE("a signal that is no interrupt ends nothing") {
  const Pipe input;
  const Interrupts interrupts;
  struct sigaction before {};
  struct sigaction action {};
  action.sa_handler = [](int) {};
  sigaction(SIGUSR1, &action, &before);
  LineReader reader(input.output(), "input", interrupts.wake());
  const pthread_t waiting = pthread_self();
  std::thread other([&] {
    for (int i = 0; i < 20; ++i) {
      usleep(500);
      pthread_kill(waiting, SIGUSR1);
    }
    input.send("line\n");
  });
  CHECK(shown(reader.read_line()) == "line:line");
  other.join();
  sigaction(SIGUSR1, &before, nullptr);
}

TEST_CASE("at a terminal lines, Ctrl-C and Ctrl-D come through") {
  MT_REQUIRE_PSEUDO_TERMINALS();
  PtyProgram program([] {
    const Interrupts interrupts;
    LineReader reader(STDIN_FILENO, "standard input", interrupts.wake());
    while (true) {
      dprintf(STDOUT_FILENO, "> ");
      const LineResult result = reader.read_line();
      dprintf(STDOUT_FILENO, "%s\n", shown(result).c_str());
      if (result.status == LineStatus::kEnd) return 7;
      if (result.status == LineStatus::kInterrupted) interrupts.clear();
    }
  });
  program.expect("> ");
  program.send_line("hello");
  program.expect("line:hello\n> ");
  program.send("lost");  // the terminal throws away the line that Ctrl-C cuts short
  program.send_interrupt();
  program.expect("interrupted\n> ");
  program.send("a\nb\n");
  program.expect("line:a\n> line:b\n> ");
  program.send_end_of_input();
  program.expect("end\n");
  program.expect_exit_code(7);
}

}  // namespace minitorch::test
