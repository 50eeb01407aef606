// Reading lines that people type, so that Ctrl-C ends the waiting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace minitorch {

enum class LineStatus : std::uint8_t {
  kLine,
  kEnd,          // the input is over: from now on the answer is always this
  kInterrupted,  // nothing is lost: the next call goes on where this one stopped
};

struct LineResult {
  LineStatus status = LineStatus::kEnd;
  std::string line = {};  // without its newline; empty unless kLine
};

// Lines of a terminal, pipe or file. A line ends with "\n" or "\r\n", or with the input when anything stands behind the
// last newline; it may have any length and hold any bytes, NUL and invalid UTF-8 too.
//
// How Ctrl-C wakes it: the SIGINT handler makes the descriptor `wake` readable (a self-pipe or an eventfd), and
// read_line() waits for both descriptors at once. This has no window in which a signal is missed, whichever thread the
// system picks to run the handler. Blocking the signal outside ppoll(2) would have one: with SIGINT blocked here, a
// worker thread may take it just before the wait begins, and nothing ends the wait.
class LineReader {
 public:
  // Both descriptors stay open and belong to the caller. `name` begins errors: "standard input". `wake` -1: nothing
  // interrupts.
  LineReader(int descriptor, std::string name, int wake = -1);

  // Waits for the next line. kInterrupted as long as `wake` is readable, also before lines that are there already: the
  // caller makes it unreadable again. Throws IoError when the input cannot be read.
  [[nodiscard]] LineResult read_line();

 private:
  [[nodiscard]] bool take_line(std::string& line);
  [[nodiscard]] LineResult take_rest();
  [[nodiscard]] bool wait(bool for_input);
  void read_more();

  int descriptor_;
  std::string name_;
  int wake_;
  bool ended_ = false;
  std::string buffer_;
  std::size_t begin_ = 0;     // of the next line
  std::size_t searched_ = 0;  // no newline between begin_ and here
};

}  // namespace minitorch
