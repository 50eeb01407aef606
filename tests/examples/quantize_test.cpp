// quantize as users run it: the folder it makes, the errors it reports, and one line for every bad input.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>

#include "examples/quantize/divergence.h"
#include "minitorch/io/safetensors.h"
#include "minitorch/ops/inference.h"
#include "models/packed_file.h"
#include "models/save.h"
#include "tests/examples/run_program.h"
#include "tests/support/random_model.h"

namespace minitorch::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kError = 1;
constexpr int kUsage = 2;

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

fs::path draft() { return fs::path(MINITORCH_SOURCE_DIR) / "models/tiny_r1/draft"; }

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

// Runs quantize into folder/out; the JSON that it writes.
json quantized(const fs::path& source, const fs::path& folder, const std::string& dtype, Arguments more = {}) {
  const fs::path file = folder / "report.json";
  Arguments arguments{source.string(), (folder / "out").string(), "--dtype", dtype, "--json", file.string()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const ProgramResult result = run_program("quantize", arguments);
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.err == "");
  return json::parse(content_of(file));
}

TEST_CASE("quantize makes a folder that the other programs load") {
  const TemporaryFolder folder;
  const json report = quantized(draft(), folder.path(), "int8");
  CHECK(names_in(folder.path()) == std::vector<std::string>{"out", "report.json"});
  CHECK(names_in(folder.path() / "out") == std::vector<std::string>{"config.json", "generation_config.json",
                                                                    std::string(models::kPackedFileName),
                                                                    "tokenizer.json", "tokenizer_config.json"});
  for (const char* name : {"config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json"}) {
    CHECK(content_of(folder.path() / "out" / name) == content_of(draft() / name));
  }
  CHECK(report["dtype"] == "int8");
  CHECK(report["divergence"] == nullptr);
  CHECK(report["packed_bytes"] == fs::file_size(folder.path() / "out" / models::kPackedFileName));

  const std::string out = (folder.path() / "out").string();
  const ProgramResult shown = run_program("inspect_model", {out, "--ids", "1,2,3", "--tensors"});
  CHECK(shown.exit_code == 0);
  CHECK(holds(shown.out, " as int8"));
  CHECK(holds(shown.out, "model.layers.0.mlp.gate_up_proj.weight u8 ["));
  const ProgramResult made = run_program("inspect_model", {draft().string(), "--ids", "1,2,3", "--dtype", "int8"});
  const auto positions = [](const std::string& text) { return text.substr(text.find("position 0")); };
  CHECK(positions(shown.out).substr(0, 200) == positions(made.out).substr(0, 200));
  const ProgramResult other = run_program("inspect_model", {out, "--dtype", "f32"});
  check_refused("inspect_model", other, kError, "dtype: expected auto or int8, in which " + out);
}

TEST_CASE("quantize reports the error of every tensor as its panels show it") {
  for (const auto& [name, format] : models::packed_formats()) {
    CAPTURE(name);
    const TemporaryFolder folder;
    fs::create_directory(folder.path() / "source");
    write_random_checkpoint(folder.path() / "source", {}, 3);
    const json report = quantized(folder.path() / "source", folder.path(), std::string(name));
    std::map<std::string, json> reported;
    for (const json& tensor : report["tensors"]) reported[tensor["name"]] = tensor;
    std::size_t matrices = 0;
    double squares = 0.0;
    double errors = 0.0;
    for (const auto& [tensor, weights] : models::read_checkpoint_tensors(folder.path() / "source")) {
      if (weights.dims() != 2) continue;
      CAPTURE(tensor);
      ++matrices;
      const PackedMatrix packed = pack(weights, format);
      std::vector<std::int32_t> ids(static_cast<std::size_t>(packed.rows()));
      std::iota(ids.begin(), ids.end(), 0);
      const auto held = ops::gather_rows(packed, ids).to_vector();
      const auto stored = weights.to_vector();
      double square = 0.0;
      double error = 0.0;
      double largest = 0.0;
      for (std::size_t i = 0; i < stored.size(); ++i) {
        square += stored[i] * stored[i];
        error += (stored[i] - held[i]) * (stored[i] - held[i]);
        largest = std::max(largest, std::abs(stored[i] - held[i]));
      }
      squares += square;
      errors += error;
      CHECK(reported[tensor]["relative_rms"] == doctest::Approx(std::sqrt(error / square)).epsilon(1e-12));
      CHECK(reported[tensor]["largest"] == largest);
      CHECK((error == 0.0) == (name == "f32"));
    }
    CHECK(reported.size() == matrices);
    CHECK(report["relative_rms"] == doctest::Approx(std::sqrt(errors / squares)).epsilon(1e-12));
  }
}

TEST_CASE("quantize counts the bits of all matrices, embedding and head included") {
  const TemporaryFolder folder;
  RandomModelShape shape;  // whole panels and groups
  shape.vocab_size = 64;
  shape.hidden_size = 64;
  shape.intermediate_size = 128;
  shape.num_heads = 4;
  shape.head_dim = 16;
  fs::create_directory(folder.path() / "source");
  write_random_checkpoint(folder.path() / "source", shape, 3);
  CHECK(quantized(folder.path() / "source", folder.path(), "int8")["bits_per_weight"] == 8.5);
  fs::remove_all(folder.path() / "out");
  CHECK(quantized(folder.path() / "source", folder.path(), "f32")["bits_per_weight"] == 32.0);
}

TEST_CASE("quantize compares the packed model with its source on a text") {
  const TemporaryFolder folder;
  const std::string text = (folder.path() / "text").string();
  write_file(text, "Mia had 5 pens. Mia lost 2 pens. How many pens does Mia have now? Mia had 5 pens.");
  const auto divergence = [&](const std::string& dtype, Arguments more = {}) {
    fs::remove_all(folder.path() / "out");
    more.insert(more.end(), {"--text", text});
    return quantized(draft(), folder.path(), dtype, more)["divergence"];
  };
  const json same = divergence("bf16");  // as it is stored
  CHECK(same["reference_dtype"] == "bf16");
  CHECK(same["mean_kl"] == 0.0);
  CHECK(same["largest_kl"] == 0.0);
  CHECK(same["top_agreement"] == 1.0);
  CHECK(same["windows"] == 1);
  CHECK(same["tokens"] == same["window_tokens"]);
  CHECK(same["tokens"] > 20);
  const json int8 = divergence("int8");
  CHECK(int8["mean_kl"] > 0.0);
  CHECK(int8["mean_kl"] < 0.01);
  CHECK(int8["largest_kl"] >= int8["mean_kl"]);
  CHECK(int8["top_agreement"] > 0.8);
  CHECK(divergence("int8", {"--threads", "1"}) == divergence("int8", {"--threads", "2"}));
}

TEST_CASE("weights stored in f32 and packed in f32 are the same model") {
  MT_REQUIRE_DATA("models/stories260K");
  const TemporaryFolder folder;
  const std::string text = (folder.path() / "text").string();
  write_file(text, "Once upon a time there was a little girl who had a red ball.");
  const json report = quantized(data_folder() / "models/stories260K", folder.path(), "f32", {"--text", text});
  CHECK(report["divergence"]["reference_dtype"] == "f32");
  CHECK(report["divergence"]["mean_kl"] == 0.0);
  CHECK(report["divergence"]["top_agreement"] == 1.0);
  CHECK(report["relative_rms"] == 0.0);
}

TEST_CASE("the divergence of two rows of logits is that of their distributions") {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> p{0.0f, std::log(3.0f), -infinity};  // 1/4, 3/4, 0
  const std::vector<float> q{5.0f, 5.0f, -infinity};            // 1/2, 1/2, 0
  const double expected = 0.25 * std::log(0.5) + 0.75 * std::log(1.5);
  CHECK(quantize::kl_divergence(p, q) == doctest::Approx(expected).epsilon(1e-6));
  CHECK(quantize::kl_divergence(p, p) == 0.0);
  CHECK(quantize::kl_divergence(q, p) ==
        doctest::Approx(0.5 * std::log(2.0) + 0.5 * std::log(2.0 / 3.0)).epsilon(1e-6));
}

TEST_CASE("a text longer than the context is compared in windows") {
  const TemporaryFolder folder;
  RandomModelShape shape;
  shape.max_position_embeddings = 20;
  ThreadPool threads(2);
  const Runtime runtime{&kernels::best_cpu_table(), &threads};
  const auto reference = make_random_model(shape, 1, runtime);
  const auto other = make_random_model(shape, 2, runtime);
  std::vector<std::int32_t> ids(45);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i * 7 % 97);
  const quantize::Divergence same = quantize::compare_models(*reference, *reference, ids, threads);
  CHECK(same.tokens == 45);
  CHECK(same.windows == 3);
  CHECK(same.window_tokens == 20);
  CHECK(same.mean_kl == 0.0);
  CHECK(same.same_top == 45);
  const quantize::Divergence different = quantize::compare_models(*reference, *other, ids, threads);
  CHECK(different.mean_kl > 0.1);
  CHECK(different.same_top < 45);
}

TEST_CASE("quantize replaces a packed folder only when it is told to, and no other folder at all") {
  const TemporaryFolder folder;
  const std::string out = (folder.path() / "out").string();
  const auto run = [&](const std::string& dtype, bool force) {
    Arguments arguments{draft().string(), out, "--dtype", dtype};
    if (force) arguments.emplace_back("--force");
    return run_program("quantize", arguments);
  };
  fs::create_directory(out);
  CHECK(run("int8", /*force=*/false).exit_code == 0);  // empty
  const std::string packed = content_of(fs::path(out) / models::kPackedFileName);
  check_refused("quantize", run("bf16", /*force=*/false), kError,
                out + ": expected a new or empty folder, got a packed model (--force replaces it)\n");
  CHECK(content_of(fs::path(out) / models::kPackedFileName) == packed);
  CHECK(run("bf16", /*force=*/true).exit_code == 0);
  CHECK(content_of(fs::path(out) / models::kPackedFileName) != packed);
  write_file(fs::path(out) / "notes.txt", "mine");
  check_refused("quantize", run("int8", /*force=*/true), kError,
                out + ": expected a new or empty folder, got one that holds notes.txt\n");
  CHECK(content_of(fs::path(out) / "notes.txt") == "mine");
  fs::remove_all(out);
  fs::copy(draft(), out);
  check_refused("quantize", run("int8", /*force=*/true), kError, "expected a new or empty folder, got one that holds ");
  fs::remove_all(out);
  write_file(out, "a file");
  check_refused("quantize", run("int8", /*force=*/true), kError, "expected a new or empty folder, got a file\n");
  CHECK(names_in(folder.path()) == std::vector<std::string>{"out"});
}

TEST_CASE("quantize refuses bad input with one line, and leaves nothing behind") {
  const TemporaryFolder folder;
  const std::string out = (folder.path() / "out").string();
  const std::string model = draft().string();
  const auto refused = [&](const Arguments& arguments, int exit_code, std::string_view text) {
    CAPTURE(text);
    check_refused("quantize", run_program("quantize", arguments), exit_code, text);
    CHECK(!fs::exists(out));
  };
  refused({}, kUsage, "SOURCE");
  refused({model}, kUsage, "OUTPUT");
  refused({model, out}, kUsage, "--dtype");
  refused({model, out, "--dtype", "int3"}, kUsage, "--dtype: expected one of bf16, f32, ");
  refused({model, out, "--dtype", "auto"}, kUsage, "got 'auto'");
  refused({model, out, "--dtype", "int8", "--threads", "0"}, kUsage, "--threads: expected a whole number");
  refused({model, out, "--dtype", "int8", "--json", model + "/config.json"}, kUsage,
          "--json: expected a file that is not part of a model, got " + model);
  refused({model, out, "--dtype", "int8", "--what"}, kUsage, "--what");
  refused({model, out, "--dtype", "int8", "--json", "-"}, kUsage, "--json: expected a file, got '-'");
  refused({out, out + "2", "--dtype", "int8"}, kError, "out: expected a model folder");
  refused({model, out + "/a/b", "--dtype", "int8"}, kError, "/a/b: cannot make this folder: No such file or directory");
  refused({model, out, "--dtype", "int8", "--text", out + ".txt"}, kError, "out.txt: cannot open");
  refused({model, out, "--dtype", "int8", "--json", out + "/a.json"}, kError, "a.json");
  const std::string empty = (folder.path() / "empty").string();
  write_file(empty, "");
  refused({model, out, "--dtype", "int8", "--text", empty}, kError,
          "--text: " + empty + ": expected at least one token, got an empty text");
  fs::remove(empty);

  fs::copy(draft(), folder.path() / "spoilt");
  fs::resize_file(folder.path() / "spoilt/model.safetensors", 3000);
  refused({(folder.path() / "spoilt").string(), out, "--dtype", "int8"}, kError, "model.safetensors: ");
  fs::remove_all(folder.path() / "spoilt");
  fs::create_directory(folder.path() / "infinite");
  write_random_checkpoint(folder.path() / "infinite", {}, 1);
  auto tensors = models::read_checkpoint_tensors(folder.path() / "infinite");
  tensors.at("lm_head.weight").data<float>()[0] = std::numeric_limits<float>::infinity();
  io::write_safetensors(folder.path() / "infinite/model.safetensors", tensors);
  refused({(folder.path() / "infinite").string(), out, "--dtype", "int8"}, kError,
          "model.safetensors: tensor \"lm_head.weight\": pack_rows: ");
  CHECK(names_in(folder.path()) == std::vector<std::string>{"infinite"});
}

TEST_CASE("quantize explains itself, and does not pack what is packed") {
  const ProgramResult help = run_program("quantize", {"--help"});
  CHECK(help.exit_code == 0);
  CHECK(holds(help.out, "--text FILE"));
  const TemporaryFolder folder;
  static_cast<void>(quantized(draft(), folder.path(), "int8"));
  const std::string out = (folder.path() / "out").string();
  check_refused("quantize", run_program("quantize", {out, out + "2", "--dtype", "int8"}), kError,
                "safetensors: expected weights that are not packed, got packed ones\n");
  CHECK(!fs::exists(out + "2"));
}

}  // namespace
}  // namespace minitorch::test
