// Command line, one-line errors and exit codes of all programs. The one file beside the mains that includes CLI11.
#include "examples/common/program.h"

#include <cstdio>
#include <new>  // std::bad_alloc

#include <CLI/CLI.hpp>

#include "examples/common/build_id.h"
#include "minitorch/base/utf8.h"

namespace minitorch {
namespace {

constexpr std::size_t kMaxMessageBytes = 2000;

// Ends the program early with this code, after --help or --version.
struct EarlyExit {
  int code;
};

int report(std::string_view name, std::string_view message, int code) {
  std::fflush(stdout);  // results that were already written come before the error on a shared terminal
  std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(name.size()), name.data(),
               printable(message, kMaxMessageBytes).c_str());
  return code;
}

int run_body(std::string_view name, const std::function<int()>& body) {
  try {
    return body();
  } catch (const EarlyExit& exit) {
    return exit.code;
  } catch (const UsageError& error) {
    return report(name, error.what(), kExitUsage);
  } catch (const CLI::Error& error) {
    return report(name, std::string(error.what()) + " (see --help)", kExitUsage);
  } catch (const std::bad_alloc&) {
    return report(name, "out of memory", kExitError);
  } catch (const std::exception& error) {
    return report(name, error.what(), kExitError);
  }
}

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

}  // namespace

int run_program(std::string_view name, const std::function<int()>& body) {
  const int code = run_body(name, body);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    return report(name, "cannot write to standard output", kExitError);
  return code;
}

void parse_command_line(CLI::App& app, int argc, const char* const* argv, const std::string& examples) {
  if (!examples.empty()) app.footer(examples);
  app.set_version_flag("--version", std::string(build_id()), "Print the version and exit");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print(app.help());
    throw EarlyExit{kExitOk};
  } catch (const CLI::CallForAllHelp&) {
    print(app.help("", CLI::AppFormatMode::All));
    throw EarlyExit{kExitOk};
  } catch (const CLI::CallForVersion&) {
    print(std::string(app.get_name()) + " " + build_id() + "\n");
    throw EarlyExit{kExitOk};
  }
}

}  // namespace minitorch
