// The command line of benchmark programs.
#include "bench/common/program.h"

#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>

namespace minitorch::bench {
namespace {

int report(const std::string& name, const char* message, int code) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s: %s\n", name.c_str(), message);
  return code;
}

}  // namespace

int run_program(const std::string& name, const std::string& description, int argc, const char* const* argv,
                const std::function<void(CLI::App&)>& declare, const std::function<void()>& run) {
  CLI::App app(description, name);
  declare(app);
  try {
    app.parse(argc, argv);
    run();
    return 0;
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    return 0;
  } catch (const CLI::Error& error) {
    return report(name, error.what(), 2);
  } catch (const std::exception& error) {
    return report(name, error.what(), 1);
  }
}

void add_threads_option(CLI::App& app, int& threads) {
  app.add_option("--threads", threads, "Threads; default: the cores this process may use")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
}

}  // namespace minitorch::bench
