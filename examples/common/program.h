// What every program does around its work: the command line, one-line errors and exit codes that mean something.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "minitorch/base/error.h"

namespace CLI {
class App;
}

namespace minitorch {

enum ExitCode : int {
  kExitOk = 0,
  kExitError = 1,          // bad input, a file that cannot be read, ...
  kExitUsage = 2,          // the command line itself
  kExitBrokenPromise = 3,  // two results that must be equal are not
};

// A command line that makes no sense, found after parsing: run_program exits with kExitUsage.
class UsageError : public Error {
 public:
  using Error::Error;
};

// Runs `body` and returns its exit code. An exception becomes one line on stderr, "name: message", and kExitUsage for
// command line errors, kExitError for all others. A stdout that cannot be written (a full disk) is an error too.
int run_program(std::string_view name, const std::function<int()>& body);

// Parses the command line inside run_program's body; adds --version. After --help or --version the program ends with
// kExitOk. `examples` follows the options in the help text.
void parse_command_line(CLI::App& app, int argc, const char* const* argv, const std::string& examples = {});

}  // namespace minitorch
