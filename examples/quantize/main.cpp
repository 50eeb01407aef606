// quantize: writes a model folder whose weights are packed once, and reports what that costs.
//   quantize MODEL MODEL-int8 --dtype int8
#include <unistd.h>  // isatty

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "examples/common/build_id.h"
#include "examples/common/interrupt.h"
#include "examples/common/json_file.h"
#include "examples/common/program.h"
#include "examples/quantize/divergence.h"
#include "examples/quantize/options.h"
#include "examples/quantize/output_folder.h"
#include "examples/quantize/report.h"
#include "examples/quantize/weight_error.h"
#include "kernels/kernel_table.h"
#include "minitorch/base/check.h"
#include "minitorch/base/thread_pool.h"
#include "minitorch/io/file.h"
#include "minitorch/io/json.h"
#include "models/load.h"
#include "models/packed_file.h"

namespace minitorch::quantize {
namespace {

namespace fs = std::filesystem;

// Ctrl-C while the folder is being made; what was written of it is removed.
struct Interrupted {};

void note(const std::string& text) {
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "{} ...\n", text);
}

// The text's ids, with the tokenizer's begin token where it has one.
std::vector<std::int32_t> read_text(const fs::path& folder, const fs::path& file) {
  const std::string text = io::read_input(file);
  const models::Tokenizer tokenizer = models::Tokenizer::from_directory(folder);
  try {
    std::vector<std::int32_t> ids = tokenizer.encode(text, tokenizer.adds_bos());
    MT_CHECK(!text.empty() && !ids.empty(), "expected at least one token, got an empty text");
    return ids;
  } catch (const Error& error) {
    fail<Error>("--text: {}: {}", io::name_of_input(file), error.what());
  }
}

// Makes the folder, complete or not at all.
Report pack(const Options& options, const Runtime& runtime) {
  const models::ModelConfig config = models::read_model_config(options.source);
  const models::Checkpoint source(options.source);
  Report report;
  report.format = options.format;
  for (const auto& [name, file] : source.tensors()) {
    report.stored_bytes += static_cast<std::int64_t>(source.entry(name).bytes);
  }
  OutputFolder output(options.output, options.force);
  catch_interrupt();
  const auto compare = [&](const models::MatrixPlan& plan, const PackedMatrix& matrix) {
    for (WeightError& error : measure_errors(source, plan, matrix, runtime)) report.tensors.push_back(std::move(error));
    report.matrix_bytes += matrix.bytes();
    if (interrupted()) throw Interrupted{};
  };
  const fs::path file = output.path() / models::kPackedFileName;
  models::write_packed_file(file, source, config, options.format, *runtime.threads, compare);
  output.copy_model_files(options.source);
  report.packed_bytes = static_cast<std::int64_t>(fs::file_size(file));
  output.publish();
  release_interrupt();
  return report;
}

// Both models at once: the source as it is stored, and what was written.
void compare_on_text(const Options& options, const Runtime& runtime, const std::vector<std::int32_t>& ids,
                     Report& report) {
  models::LoadedModel source = models::load_model(options.source, runtime);
  models::LoadedModel packed = models::load_model(options.output, runtime);
  for (const std::int32_t id : ids) {
    MT_CHECK(id < source.config.vocab_size, "--text: expected ids from 0 to {} (the model's), got {}",
             source.config.vocab_size - 1, id);
  }
  const models::Checkpoint checkpoint(options.source);
  const auto held = models::summarize_weights(checkpoint, source.config, models::WeightDType::kAuto);
  report.reference = models::name_of(held.format);
  report.divergence = compare_models(*source.model, *packed.model, ids, *runtime.threads);
}

int run(const Options& options) {
  std::optional<io::OutputFile> file;
  if (options.json.has_value()) file.emplace(*options.json);
  std::vector<std::int32_t> ids;
  if (options.text.has_value()) ids = read_text(options.source, *options.text);
  ThreadPool threads(options.threads > 0 ? options.threads : default_thread_count());
  const Runtime runtime{.table = &kernels::best_cpu_table(), .threads = &threads};
  note(fmt::format("packing {}", options.source.string()));
  Report report = pack(options, runtime);
  if (!ids.empty()) {
    note(fmt::format("comparing both models on {} tokens", ids.size()));
    compare_on_text(options, runtime, ids, report);
  }
  print(report);
  nlohmann::ordered_json json{{"source", options.source.string()}, {"output", options.output.string()}};
  json.update(to_json(report));
  json["threads"] = threads.size();
  json["isa"] = runtime.table->name;
  json["build"] = build_id();
  if (file.has_value()) write_json(*file, json);
  note_threads("quantize", threads.size());
  return kExitOk;
}

}  // namespace
}  // namespace minitorch::quantize

int main(int argc, char** argv) {
  using namespace minitorch;
  return run_program("quantize", [&] {
    try {
      return quantize::run(quantize::parse_options(argc, argv));
    } catch (const quantize::Interrupted&) {
      return kExitInterrupted;
    }
  });
}
