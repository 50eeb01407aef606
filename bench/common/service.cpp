// Commands in, JSON out.
#include "bench/common/service.h"

#include <charconv>
#include <iostream>
#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/common/limits.h"
#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"

namespace minitorch::bench {
namespace {

using nlohmann::ordered_json;

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::int64_t number_of(const std::string& command, const std::string& word) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  MT_CHECK(error == std::errc() && end == word.data() + word.size() && number > 0,
           "{}: expected a positive whole number, got '{}'", command, printable(word, 60));
  return number;
}

ordered_json answer(std::span<const Command> commands, const std::vector<std::string>& words) {
  for (const Command& command : commands) {
    if (command.name != words[0]) continue;
    MT_CHECK(words.size() - 1 == words_of(command.parameters).size(), "{}: expected '{} {}', got {} numbers", words[0],
             command.name, command.parameters, words.size() - 1);
    std::vector<std::int64_t> numbers;
    for (std::size_t i = 1; i < words.size(); ++i) numbers.push_back(number_of(command.name, words[i]));
    return command.answer(numbers);
  }
  std::string known = "quit";
  for (const Command& command : commands) known += ", " + command.name;
  fail<Error>("command: expected one of {}, got '{}'", known, printable(words[0], 60));
}

void print_line(const ordered_json& json) {
  std::cout << json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) << std::endl;  // the reader waits
}

ordered_json dram(ThreadPool& pool, Buffer& memory, std::int64_t bytes, std::int64_t passes) {
  if (memory.size() != static_cast<std::size_t>(bytes)) {
    memory = Buffer();
    memory = touched_memory(static_cast<std::size_t>(bytes));
  }
  const auto times = time_repeats(passes, [&] { static_cast<void>(read_memory(pool, memory.span())); });
  ordered_json json = repeats_json(times);
  json["bytes"] = bytes;
  json["bytes_per_s"] = static_cast<double>(bytes) / median_wall_ms(times) * 1e3;
  return json;
}

ordered_json peak(ThreadPool& pool) {
  constexpr std::int64_t kRounds = 1 << 22;
  ordered_json json{{"threads", pool.size()}};
  for (const RegisterLoop& loop : register_loops()) {
    double best = 0.0;
    for (int repeat = 0; repeat < 5; ++repeat) best = std::max(best, operations_per_second(pool, loop, kRounds));
    json["operations_per_s"][loop.name] = best;
  }
  return json;
}

}  // namespace

ordered_json repeats_json(const std::vector<Times>& times) {
  ordered_json repeats = ordered_json::array();
  for (const Times& time : times) repeats.push_back({{"wall_ms", time.wall_ms}, {"cpu_ms", time.cpu_ms}});
  return {{"repeats", std::move(repeats)}};
}

std::vector<Command> machine_commands(ThreadPool& pool) {
  const auto memory = std::make_shared<Buffer>();  // kept between calls: touching it takes longer than reading it
  return {{"dram", "BYTES PASSES",
           [&pool, memory](std::span<const std::int64_t> n) { return dram(pool, *memory, n[0], n[1]); }},
          {"peak", "", [&pool](std::span<const std::int64_t>) { return peak(pool); }},
          {"memory", "", [](std::span<const std::int64_t>) {
             return ordered_json{{"peak_bytes", peak_resident_bytes()}};
           }}};
}

void serve(const ordered_json& ready, std::span<const Command> commands) {
  print_line(ready);
  for (std::string line; std::getline(std::cin, line);) {
    const std::vector<std::string> words = words_of(line);
    if (words.empty()) continue;
    if (words[0] == "quit") return;
    try {
      print_line(answer(commands, words));
    } catch (const Error& error) {
      print_line({{"error", error.what()}});
    }
  }
}

}  // namespace minitorch::bench
