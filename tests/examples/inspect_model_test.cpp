// inspect_model as users run it: the summary, logits of given ids, and one line for every bad input.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>  // std::abs
#include <filesystem>

#include "minitorch/io/npy.h"
#include "tests/examples/run_program.h"

namespace minitorch::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kError = 1;
constexpr int kUsage = 2;

ProgramResult inspect(const Arguments& arguments) { return run_program("inspect_model", arguments); }

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string checkpoint(const char* name) { return golden_file(std::string("models/") + name).string(); }

TEST_CASE("inspect_model shows architecture, tensors, parameters and memory") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "model.json";
  const ProgramResult result = inspect({checkpoint("qwen2_bf16_sharded"), "--tensors", "--json", file.string()});
  CHECK(result.exit_code == 0);
  CHECK(result.err == "");
  CHECK(holds(result.out, "Qwen2ForCausalLM"));
  CHECK(holds(result.out, "39 in 3 files: 39 bf16"));
  CHECK(holds(result.out, "model.layers.2.mlp.down_proj.weight bf16 [60, 77]\n"));
  const json summary = json::parse(content_of(file));
  CHECK(summary["architecture"] == "Qwen2ForCausalLM");
  CHECK(summary["config"]["num_layers"] == 3);
  CHECK(summary["config"]["eos_token_ids"] == json({2, 5}));
  CHECK(summary["config"]["generation"]["temperature"] == 0.0);
  // Embedding and head, three layers of q, k, v with biases, o, the feed-forward and two norms, the last norm.
  const int parameters = 2 * 100 * 60 + 3 * (4 * 60 * 60 + 3 * 60 + 3 * 60 * 77 + 2 * 60) + 60;
  CHECK(summary["parameters"] == parameters);
  CHECK(summary["stored_bytes"] == 2 * parameters);
  CHECK(summary["held_dtype"] == "bf16");
  CHECK(summary["cache_bytes_per_token"] == 3 * 2 * 60 * 2);
  CHECK(summary["tensors"].size() == 39);
  CHECK(summary["tensors_by_dtype"] == json({{"bf16", 39}}));
}

TEST_CASE("inspect_model holds matrices in the type that is asked for") {
  const std::string folder = checkpoint("qwen2_odd");
  CHECK(holds(inspect({folder}).out, " as f32"));
  CHECK(holds(inspect({folder, "--dtype", "bf16"}).out, " as bf16"));
  CHECK(holds(inspect({folder, "--dtype", "int8"}).out, " as int8"));
}

TEST_CASE("inspect_model writes the f32 logits of every position") {
  const TemporaryFolder folder;
  const fs::path logits_file = folder.path() / "logits.npy";
  const fs::path json_file = folder.path() / "model.json";
  const fs::path model = golden_file("models/llama_biases");
  const json ids = json::parse(content_of(model / "golden_ids.json"));
  std::string list;
  for (const json& id : ids) {
    if (!list.empty()) list += ',';
    list += std::to_string(id.get<int>());
  }
  const ProgramResult result = inspect({model.string(), "--ids", list, "--logits", logits_file.string(), "--json",
                                        json_file.string(), "--threads", "1"});
  CHECK(result.exit_code == 0);
  CHECK(result.err == "");
  const Tensor logits = io::read_npy(logits_file);
  const Tensor golden = io::read_npy(model / "golden_logits.npy");
  REQUIRE(logits.shape() == golden.shape());
  CHECK(logits.dtype() == DType::kF32);
  const auto values = logits.to_vector();
  const auto expected = golden.to_vector();
  double difference = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) difference = std::max(difference, std::abs(values[i] - expected[i]));
  CHECK(difference < 1e-4);
  const json summary = json::parse(content_of(json_file));
  CHECK(summary["ids"] == ids);
  CHECK(summary["threads"] == 1);
  const auto best = std::max_element(expected.begin(), expected.begin() + golden.size(1)) - expected.begin();
  CHECK(summary["argmax"][0] == best);
  CHECK(holds(result.out, "position 0: id " + ids[0].dump() + ", likeliest next " + std::to_string(best)));
}

TEST_CASE("inspect_model times passes over several rows and a prefill") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "model.json";
  const ProgramResult result = inspect({checkpoint("llama_tied"), "--time", "--json", file.string()});
  CHECK(result.exit_code == 0);
  CHECK(holds(result.out, "16 rows"));
  CHECK(holds(result.out, "prefill"));
  const json timing = json::parse(content_of(file))["timing"];
  CHECK(timing["passes"].size() == 5);
  for (const json& pass : timing["passes"]) CHECK(pass["min_ms"] > 0.0);
  CHECK(timing["prefill_rows"] == 64);  // its whole context
  CHECK(timing["peak_bytes"] > 1000000);
}

TEST_CASE("inspect_model refuses bad input with one line that names it") {
  const TemporaryFolder folder;
  const std::string model = checkpoint("llama_tied");
  const auto refused = [](const Arguments& arguments, int exit_code, std::string_view text) {
    CAPTURE(text);
    check_refused("inspect_model", inspect(arguments), exit_code, text);
  };
  refused({}, kUsage, "DIR");
  refused({model, "--what"}, kUsage, "--what");
  refused({model, "--dtype", "int3"}, kUsage, "--dtype: expected auto, f32, bf16, int8 or int4, got 'int3'");
  refused({model, "--threads", "0"}, kUsage, "--threads: expected a whole number from 1 to 1024, got '0'");
  refused({model, "--ids", "1,two"}, kUsage,
          "--ids: expected a whole number from -2147483648 to 2147483647, got 'two'");
  refused({model, "--ids", "1,"}, kUsage, "--ids: expected a whole number");
  refused({model, "--ids", "1", "--json", (folder.path() / "same").string(), "--logits",
           (folder.path() / "./same").string()},
          kUsage, "--json and --logits name the same file");
  refused({model, "--logits", "x.npy"}, kUsage, "--logits has no use without --ids");
  refused({(folder.path() / "nowhere").string()}, kError, "nowhere: expected a model folder");
  refused({folder.path().string()}, kError, " is not a model folder (no config.json)\n");
  refused({model + "/config.json"}, kError, "expected a model folder, got a file; its folder is " + model + "\n");
  refused({model, "--ids", "83"}, kError, "--ids: expected ids from 0 to 82, got 83");
  refused({model, "--ids", "1,-1"}, kError, "--ids: expected ids from 0 to 82, got -1");
  std::string long_list = "1";
  for (int i = 0; i < 64; ++i) long_list += ",1";
  refused({model, "--ids", long_list}, kError, "--ids: expected at most 64 ids (the model's context), got 65");
  refused({model, "--json", (folder.path() / "no/x.json").string()}, kError, "x.json");
  refused({model, "--ids", "1", "--logits", (folder.path() / "no/x.npy").string()}, kError, "x.npy");

  fs::copy(model, folder.path() / "spoilt");
  fs::resize_file(folder.path() / "spoilt/model.safetensors", 3000);
  refused({(folder.path() / "spoilt").string()}, kError, "model.safetensors");
}

TEST_CASE("inspect_model explains itself") {
  const ProgramResult help = inspect({"--help"});
  CHECK(help.exit_code == 0);
  CHECK(holds(help.out, "--logits"));
  const ProgramResult version = inspect({"--version"});
  CHECK(version.exit_code == 0);
  CHECK(version.out.starts_with("inspect_model "));
}

}  // namespace
}  // namespace minitorch::test
