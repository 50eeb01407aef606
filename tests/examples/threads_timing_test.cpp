// The number of threads that programs take: what the machine grants, and more than it has (case B45).
#include <doctest/doctest.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>  // std::getenv
#include <sstream>

#include <fmt/format.h>

#include "tests/examples/spec_decoding_folders.h"
#include "tests/examples/tiny_r1_pair.h"

namespace minitorch::test {
namespace {

namespace fs = std::filesystem;

// Where PATH has a program; empty when nowhere.
fs::path found_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (fs::exists(fs::path(folder) / name)) return fs::path(folder) / name;
  }
  return {};
}

// The first CPU this process may use, in case 0 is not among them.
int first_cpu() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  REQUIRE(sched_getaffinity(0, sizeof(usable), &usable) == 0);
  int cpu = 0;
  while (CPU_ISSET(static_cast<unsigned>(cpu), &usable) == 0) ++cpu;
  return cpu;
}

TEST_CASE("under taskset with one CPU a program takes one thread by default (case B45)") {
  const fs::path taskset = found_program("taskset");
  if (taskset.empty()) return note_skipped("taskset is not installed");
  Arguments arguments{"-c", std::to_string(first_cpu()),
                      (fs::path(MINITORCH_BINARY_DIR) / "bin" / kSpecDecoding).string()};
  const Arguments run = tiny_run({"--prompt", "abcab"});
  arguments.insert(arguments.end(), run.begin(), run.end());
  const ProgramResult result = run_program(taskset.string(), arguments);
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.err == "");
  CHECK(result.out.find(", 1 thread\n") != std::string::npos);
  arguments.insert(arguments.end(), {"--threads", "2"});  // asked for, it is granted
  CHECK(run_program(taskset.string(), arguments).out.find(", 2 threads\n") != std::string::npos);
}

// Plain decoding by the model in `folder`.
nlohmann::json decoded(const fs::path& folder, int threads) {
  const TemporaryFolder results;
  const fs::path file = results.path() / "result.json";
  const ProgramResult result = run_program(
      kSpecDecoding, {"--target", folder.string(), "--raw", "--prompt", "abcab", "--drafter", "none",
                      "--max-new-tokens", "32", "--threads", std::to_string(threads), "--json", file.string()});
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  return nlohmann::json::parse(content_of(file));
}

// A tiny model; with --full one of 50 million weights, whose passes take milliseconds as those of real ones do.
void write_model(const fs::path& folder) {
  RandomModelShape shape{.vocab_size = kTinyIds, .max_position_embeddings = 64};
  if (full_tests()) {
    shape.hidden_size = 768;
    shape.intermediate_size = 3072;
    shape.num_layers = 6;
    shape.num_heads = 12;
    shape.head_dim = 64;
  }
  write_random_checkpoint(folder, shape, kTinySeed);
  write_file(folder / "tokenizer.json", kTinyTokenizer);
}

TEST_CASE("32 threads give the same text as 2, and with --full at most 3 times slower (case B45)") {
  const TemporaryFolder folder;
  write_model(folder.path());
  double few_rate = 0.0;
  double many_rate = 0.0;
  for (int repeat = 0; repeat < (full_tests() ? 5 : 1); ++repeat) {  // in turn: the best of each counts
    const nlohmann::json few = decoded(folder.path(), 2);
    const nlohmann::json many = decoded(folder.path(), 32);
    CHECK(few["threads"] == 2);
    CHECK(many["threads"] == 32);
    CHECK(many["baseline"]["ids"] == few["baseline"]["ids"]);
    few_rate = std::max(few_rate, few["baseline"]["tokens_per_s"].get<double>());
    many_rate = std::max(many_rate, many["baseline"]["tokens_per_s"].get<double>());
  }
  if (!full_tests()) return;
  report_result(fmt::format("decoding: {:.1f} tokens/s with 2 threads, {:.1f} with 32", few_rate, many_rate));
  CHECK(many_rate * 3.0 >= few_rate);
}

}  // namespace
}  // namespace minitorch::test
