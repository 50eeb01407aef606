// A program as one side of an alternating comparison: it reads commands from stdin, one per line, and answers each with
// one line of JSON. bench/peers/ holds the drivers.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "bench/common/times.h"
#include "minitorch/base/thread_pool.h"

namespace minitorch::bench {

struct Command {
  std::string name;
  std::string parameters;  // "CONTEXT STEPS": positive whole numbers
  std::function<nlohmann::ordered_json(std::span<const std::int64_t>)> answer;
};

// Prints `ready`, then answers until "quit" or the end of stdin. Bad lines and Errors are answered with {"error": ...}.
void serve(const nlohmann::ordered_json& ready, std::span<const Command> commands);

// {"repeats": [{"wall_ms": ..., "cpu_ms": ...}, ...]}
[[nodiscard]] nlohmann::ordered_json repeats_json(const std::vector<Times>& times);

// The commands about the machine, which need no model: dram BYTES PASSES, peak, and memory (of this process).
[[nodiscard]] std::vector<Command> machine_commands(ThreadPool& pool);

}  // namespace minitorch::bench
