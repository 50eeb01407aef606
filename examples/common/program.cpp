// Command line, one-line errors and exit codes of all programs. The one file beside the mains that includes CLI11.
#include "examples/common/program.h"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <limits>
#include <new>  // std::bad_alloc

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "examples/common/build_id.h"
#include "minitorch/base/thread_pool.h"
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

// A closed standard descriptor would be given to the next file that is opened, and the report be written into it. In
// its place stands /dev/null: nothing can be read from it, and writing to it fails, as it does to a closed one.
void occupy_standard_descriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) == -1 && errno == EBADF) static_cast<void>(open("/dev/null", O_RDONLY));
  }
}

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

}  // namespace

int run_program(std::string_view name, const std::function<int()>& body) {
  occupy_standard_descriptors();
  const int code = run_body(name, body);
  // After an error the one line about it is enough.
  if ((std::fflush(stdout) != 0 || std::ferror(stdout) != 0) && code == kExitOk)
    return report(name, "cannot write to standard output", kExitError);
  return code;
}

void note_threads(std::string_view name, int threads) {
  const int usable = default_thread_count();
  if (threads <= usable) return;
  std::fflush(stdout);
  std::fprintf(stderr, "%.*s: note: --threads %d is more than the %d usable cores, which is slower\n",
               static_cast<int>(name.size()), name.data(), threads, usable);
}

std::int32_t whole_number(std::string_view option, std::string_view text, std::int32_t min, std::int32_t max) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= min && value <= max) return value;
  throw UsageError(
      fmt::format("{}: expected a whole number from {} to {}, got '{}'", option, min, max, printable(text, 60)));
}

double real_number(std::string_view option, std::string_view text, double min, double max) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= min && value <= max) {
    return value + 0.0;  // -0 becomes 0
  }
  const std::string range = max < std::numeric_limits<double>::max() ? fmt::format("a number from {} to {}", min, max)
                                                                     : fmt::format("a number of at least {}", min);
  throw UsageError(fmt::format("{}: expected {}, got '{}'", option, range, printable(text, 60)));
}

void check_different_files(std::string_view option, const std::filesystem::path& path, std::string_view output_option,
                           const std::filesystem::path& output) {
  std::error_code ignored;
  const auto full = [&](const std::filesystem::path& name) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(name, ignored), ignored);
  };
  const bool same = full(path) == full(output) || std::filesystem::equivalent(path, output, ignored);
  const auto type = std::filesystem::status(output, ignored).type();
  const bool is_file = type == std::filesystem::file_type::regular || type == std::filesystem::file_type::not_found;
  if (same && is_file) {
    throw UsageError(fmt::format("{} and {} name the same file, {}", option, output_option, output.string()));
  }
}

void check_outside_model(std::string_view option, const std::filesystem::path& output,
                         const std::filesystem::path& model) {
  std::error_code ignored;
  const std::filesystem::path real = std::filesystem::weakly_canonical(output, ignored);
  if (!std::filesystem::equivalent(real.parent_path(), model, ignored)) return;
  constexpr std::string_view kNames[] = {
      "config.json",           "generation_config.json",  "tokenizer.json",
      "tokenizer_config.json", "special_tokens_map.json", "model.safetensors.index.json"};
  const std::string name = real.filename().string();
  if (std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) || name.ends_with(".safetensors")) {
    throw UsageError(fmt::format("{}: expected a file that is not part of a model, got {}", option, output.string()));
  }
}

void check_output_name(std::string_view option, const std::filesystem::path& path) {
  if (path == "-")
    throw UsageError(fmt::format("{}: expected a file, got '-'; /dev/stdout is standard output", option));
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
  } catch (const CLI::ExtrasError&) {
    throw UsageError("unknown argument '" + app.remaining().front() + "' (see --help)");
  } catch (const CLI::CallForVersion&) {
    print(std::string(app.get_name()) + " " + build_id() + "\n");
    throw EarlyExit{kExitOk};
  }
}

}  // namespace minitorch
