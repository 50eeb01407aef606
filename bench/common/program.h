// The command line of benchmark programs that are not Google Benchmark's.
#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace minitorch::bench {

// Lets `declare` add options and arguments, parses, and returns what `run` returns; --help gives 0, a wrong command
// line 2, an exception 1, each with one line.
int run_program(const std::string& name, const std::string& description, int argc, const char* const* argv,
                const std::function<void(CLI::App&)>& declare, const std::function<void()>& run);

// --threads N, as everywhere: 0 is the cores this process may use.
void add_threads_option(CLI::App& app, int& threads);

}  // namespace minitorch::bench
