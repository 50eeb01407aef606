// Running a built program as a user does, and what it must never do.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/data.h"

namespace minitorch::test {

struct ProgramResult {
  int exit_code = -1;  // 128 + signal where a signal ended it, as shells count
  std::string out;
  std::string err;
};

using Arguments = std::vector<std::string>;

inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// A running program whose streams are files in a folder of its own.
class Program {
 public:
  Program(const std::string& name, const Arguments& arguments, std::string_view input = {}) : name_(name) {
    write_file(folder_.path() / "in", input);
    Arguments all{(std::filesystem::path(MINITORCH_BINARY_DIR) / "bin" / name).string()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& argument : all) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    const int in = open((folder_.path() / "in").c_str(), O_RDONLY | O_CLOEXEC);
    const int out = open((folder_.path() / "out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    const int err = open((folder_.path() / "err").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(in, STDIN_FILENO);
      dup2(out, STDOUT_FILENO);
      dup2(err, STDERR_FILENO);
      std::signal(SIGINT, SIG_DFL);  // shells start background jobs with it ignored
      execv(pointers[0], pointers.data());
      _exit(127);
    }
    for (const int descriptor : {in, out, err}) close(descriptor);
    if (pid_ < 0) throw std::runtime_error("cannot start " + name);
  }
  ~Program() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] std::string out_so_far() const { return content_of(folder_.path() / "out"); }
  void send(int signal) const { kill(pid_, signal); }

  ProgramResult wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return {.exit_code = code, .out = out_so_far(), .err = content_of(folder_.path() / "err")};
  }

 private:
  TemporaryFolder folder_;
  std::string name_;
  pid_t pid_ = -1;
};

inline ProgramResult run_program(const std::string& name, const Arguments& arguments, std::string_view input = {}) {
  return Program(name, arguments, input).wait();
}

// The promise for bad input: this exit code, nothing on stdout, one line on stderr that begins with the program and has
// `text`.
inline void check_refused(const std::string& name, const ProgramResult& result, int exit_code, std::string_view text) {
  CAPTURE(result.err);
  CHECK(result.exit_code == exit_code);
  CHECK(result.out == "");
  CHECK(result.err.starts_with(name + ": "));
  CHECK(result.err.find('\n') == result.err.size() - 1);
  CHECK(result.err.find(text) != std::string::npos);
}

}  // namespace minitorch::test
