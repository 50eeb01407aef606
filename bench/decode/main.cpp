// bench_decode: how fast a whole model decodes, verifies and prefills, and what the machine can do.
//   bench_decode MODEL --dtype int8 --threads 2     a table
//   bench_decode MODEL --kernels                    what each kernel takes of a step
//   bench_decode MODEL --serve                      commands on stdin, answers as JSON (bench/README.md)
//   bench_decode --serve                            the commands about the machine alone
#include <chrono>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/common/limits.h"
#include "bench/common/program.h"
#include "bench/common/service.h"
#include "bench/decode/model_timer.h"
#include "bench/decode/timed_table.h"
#include "kernels/kernel_table.h"
#include "models/decoder.h"
#include "models/load.h"

namespace minitorch::bench {
namespace {

using nlohmann::ordered_json;
using Numbers = std::span<const std::int64_t>;

struct Options {
  std::string model;
  std::string dtype = "auto";
  int threads = 0;
  int repeats = 7;
  bool serve = false;
  bool kernels = false;
};

struct Loaded {
  std::unique_ptr<models::CausalLM> model;
  double load_s = 0.0;
  double first_token_s = 0.0;   // loading and a step of one row
  std::int64_t step_bytes = 0;  // of weights that one step reads
};

// An embedding of its own is read by row, not as a whole.
std::int64_t bytes_of_a_step(const models::CausalLM& model) {
  const auto& decoder = dynamic_cast<const models::Decoder&>(model);
  const std::int64_t unread = decoder.config().tie_word_embeddings ? 0 : decoder.weights().embedding.bytes();
  return decoder.weights().bytes - unread;
}

Loaded load(const Options& options, const Runtime& runtime) {
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  Loaded loaded;
  loaded.model = models::load_causal_lm(options.model, runtime,
                                        {.dtype = models::weight_dtype_of(options.dtype), .cache_dtype = std::nullopt});
  loaded.load_s = seconds();
  ModelTimer(*loaded.model).prefill(1, 1);
  loaded.first_token_s = seconds();
  loaded.step_bytes = bytes_of_a_step(*loaded.model);
  return loaded;
}

ordered_json ready_json(const Options& options, const Loaded& loaded, const Runtime& runtime) {
  ordered_json json{{"threads", runtime.threads->size()}, {"isa", runtime.table->name}};
  if (loaded.model == nullptr) return json;
  json["model"] = options.model;
  json["dtype"] = options.dtype;
  json["load_s"] = loaded.load_s;
  json["first_token_s"] = loaded.first_token_s;
  json["weight_bytes"] = models::weight_bytes(*loaded.model);
  json["step_bytes"] = loaded.step_bytes;
  return json;
}

std::vector<Command> model_commands(ModelTimer& timer) {
  return {
      {"decode", "CONTEXT STEPS", [&](Numbers n) { return repeats_json(timer.decode(n[0], n[1])); }},
      {"verify", "CONTEXT K REPEATS", [&](Numbers n) { return repeats_json(timer.verify(n[0], n[1], n[2])); }},
      {"prefill", "ROWS REPEATS", [&](Numbers n) { return repeats_json(timer.prefill(n[0], n[1])); }},
      {"cache", "",
       [&](Numbers) {
         return ordered_json{{"cache_bytes", timer.cache_bytes()}};
       }},
  };
}

// Gigabytes per second.
double dram_rate(ThreadPool& pool) {
  const Buffer memory = touched_memory(std::size_t{1} << 30);
  const auto times = time_repeats(7, [&] { static_cast<void>(read_memory(pool, memory.span())); });
  return static_cast<double>(memory.size()) / median_wall_ms(times) / 1e6;
}

void print_machine(ThreadPool& pool) {
  fmt::print("{:<24}{:.1f} GB/s, {} threads\n", "memory read", dram_rate(pool), pool.size());
  for (const RegisterLoop& loop : register_loops()) {
    fmt::print("{:<24}{:.0f} G/s, {} threads\n", loop.name, operations_per_second(pool, loop, 1 << 23) / 1e9,
               pool.size());
  }
}

void print_line(const std::string& what, const std::vector<Times>& times, double one_ms, std::int64_t bytes) {
  const double ms = median_wall_ms(times);
  fmt::print("{:<24}{:8.2f} ms  {:6.2f} x one row  {:6.1f} GB/s\n", what, ms, ms / one_ms,
             static_cast<double>(bytes) / ms / 1e6);
}

void print_model(const Loaded& loaded, ModelTimer& timer, int repeats) {
  fmt::print("{:<24}{:.2f} s; first token {:.2f} s\n", "load", loaded.load_s, loaded.first_token_s);
  fmt::print("{:<24}{:.1f} MB, {:.1f} MB of it read by a step\n", "weights",
             static_cast<double>(models::weight_bytes(*loaded.model)) / 1e6,
             static_cast<double>(loaded.step_bytes) / 1e6);
  timer.decode(32, 3);  // warms up
  const auto one = timer.decode(32, repeats);
  const double one_ms = median_wall_ms(one);
  print_line("decode, context 32", one, one_ms, loaded.step_bytes);
  const std::int64_t room = loaded.model->max_context();
  const std::int64_t context = std::min<std::int64_t>(1024, room - ModelTimer::kMostRows);
  print_line(fmt::format("decode, context {}", context), timer.decode(context, repeats), one_ms, loaded.step_bytes);
  for (const std::int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 32, 64}) {
    print_line(fmt::format("verify {}", rows), timer.verify(32, rows, repeats), one_ms, loaded.step_bytes);
  }
  const std::int64_t prompt = std::min<std::int64_t>(512, room);
  const double prefill_ms = median_wall_ms(timer.prefill(prompt, std::min(repeats, 3)));
  fmt::print("{:<24}{:8.2f} ms  {:6.0f} tokens/s\n", fmt::format("prefill {}", prompt), prefill_ms,
             static_cast<double>(prompt) / prefill_ms * 1e3);
  fmt::print("{:<24}{:.1f} MB, {:.1f} MB of it caches\n", "peak memory",
             static_cast<double>(peak_resident_bytes()) / 1e6, static_cast<double>(timer.cache_bytes()) / 1e6);
}

// Where a decode step spends its time: in each kernel, and around them.
void print_kernels(ModelTimer& timer) {
  constexpr int kSteps = ModelTimer::kMostRows;
  timer.decode(32, 3);  // warms up
  reset_kernel_times();
  const auto steps = timer.decode(32, kSteps);
  double step_us = 0.0;
  for (const Times& step : steps) step_us += step.wall_ms * 1e3 / kSteps;
  double inside_us = 0.0;
  double bound_us = 0.0;  // of products and attention, which grow with the model
  const auto line = [&](std::string_view name, double us) {
    fmt::print("{:<24}{:10.2f} us  {:5.1f} %\n", name, us, 100.0 * us / step_us);
  };
  for (const KernelTime& kernel : kernel_times()) {
    if (kernel.calls == 0) continue;
    const double us = kernel.seconds * 1e6 / kSteps;
    inside_us += us;
    if (kernel.name == "linear" || kernel.name == "attention") bound_us += us;
    line(kernel.name, us);
  }
  line("around the kernels", step_us - inside_us);
  line("all but linear, attention", step_us - bound_us);
  line("step", step_us);
}

void run(const Options& options) {
  ThreadPool threads(options.threads > 0 ? options.threads : default_thread_count());
  const kernels::KernelTable& table = kernels::best_cpu_table();
  const Runtime runtime{.table = options.kernels ? &timed_table(table) : &table, .threads = &threads};
  Loaded loaded;
  if (!options.model.empty()) loaded = load(options, runtime);
  std::vector<Command> commands = machine_commands(threads);
  if (loaded.model == nullptr) {
    if (options.serve) return serve(ready_json(options, loaded, runtime), commands);
    return print_machine(threads);
  }
  ModelTimer timer(*loaded.model);
  if (options.kernels) return print_kernels(timer);
  for (Command& command : model_commands(timer)) commands.push_back(std::move(command));
  if (options.serve) return serve(ready_json(options, loaded, runtime), commands);
  print_model(loaded, timer, options.repeats);  // before the machine, whose gigabyte is no memory of the model's
  print_machine(threads);
}

}  // namespace
}  // namespace minitorch::bench

int main(int argc, char** argv) {
  using namespace minitorch::bench;
  Options options;
  return run_program(
      "bench_decode", "Times a whole model: decode, verify, prefill, loading; and what the machine can do.", argc, argv,
      [&](CLI::App& app) {
        app.add_option("MODEL", options.model, "Folder of the model; without it, the machine alone");
        app.add_option("--dtype", options.dtype, "How matrices are held: auto, f32, bf16, int8, ...")
            ->type_name("TYPE");
        add_threads_option(app, options.threads);
        app.add_option("--repeats", options.repeats, "Repeats of each line of the table")
            ->type_name("N")
            ->check(CLI::Range(1, 200))
            ->capture_default_str();
        app.add_flag("--kernels", options.kernels, "Print what each kernel takes of a decode step");
        app.add_flag("--serve", options.serve, "Answer commands from stdin, one line of JSON each");
      },
      [&] { run(options); });
}
