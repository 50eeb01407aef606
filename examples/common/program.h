// What every program does around its work: the command line, one-line errors and exit codes that mean something.
#pragma once

#include <cstdint>
#include <filesystem>
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

// Says on stderr that more threads than usable cores are slower, where that is so. For the end of a program: beside an
// error it would be in the way.
void note_threads(std::string_view name, int threads);

// The value of a numeric option. Throws UsageError that names the option, what it takes and what came.
[[nodiscard]] std::int32_t whole_number(std::string_view option, std::string_view text, std::int32_t min,
                                        std::int32_t max = INT32_MAX);

// Likewise; "nan" and "inf" are no numbers.
[[nodiscard]] double real_number(std::string_view option, std::string_view text, double min, double max);

// What `parse` makes of an option's value; its Error becomes a UsageError that begins with "--".
template <typename Parse>
auto option_value(Parse parse) {
  try {
    return parse();
  } catch (const Error& error) {
    throw UsageError(std::string("--") + error.what());
  }
}

// Throws UsageError when two options name the same file, of which one is written.
void check_different_files(std::string_view option, const std::filesystem::path& path, std::string_view output_option,
                           const std::filesystem::path& output);
// Throws UsageError when an output would take the place of a file of a model.
void check_outside_model(std::string_view option, const std::filesystem::path& output,
                         const std::filesystem::path& model);
// Throws UsageError when the name of an output file is "-".
void check_output_name(std::string_view option, const std::filesystem::path& path);

// Closes the help text of programs that compute.
inline constexpr const char* kEnvironmentHelp =
    "Environment: MINITORCH_ISA=scalar, avx2, avx512 or avx512vnni (on arm64: scalar, neon or neondot) chooses the "
    "kernels; default: the fastest this machine can run.";

// Parses the command line inside run_program's body; adds --version. After --help or --version the program ends with
// kExitOk. `examples` follows the options in the help text.
void parse_command_line(CLI::App& app, int argc, const char* const* argv, const std::string& examples = {});

}  // namespace minitorch
