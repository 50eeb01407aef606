// inspect_model: shows what a model folder holds, and the logits of given ids.
//   inspect_model MODEL --ids 1,403,407 --logits logits.npy
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "examples/common/build_id.h"
#include "examples/common/json_file.h"
#include "examples/common/program.h"
#include "examples/inspect_model/options.h"
#include "examples/inspect_model/summary.h"
#include "examples/inspect_model/timing.h"
#include "kernels/kernel_table.h"
#include "minitorch/base/check.h"
#include "minitorch/base/thread_pool.h"
#include "minitorch/io/file.h"
#include "minitorch/io/npy.h"
#include "models/load.h"

namespace minitorch::inspect_model {
namespace {

// Found out before the work: ids the model lacks, output files that cannot be written.
void check_requests(const Options& options, const models::ModelConfig& config) {
  for (const std::int32_t id : options.ids) {
    MT_CHECK(id >= 0 && id < config.vocab_size, "--ids: expected ids from 0 to {}, got {}", config.vocab_size - 1, id);
  }
  const auto count = static_cast<std::int64_t>(options.ids.size());
  MT_CHECK(count <= config.max_position_embeddings, "--ids: expected at most {} ids (the model's context), got {}",
           config.max_position_embeddings, count);
  if (options.logits.has_value() && !std::filesystem::is_fifo(*options.logits)) {
    static_cast<void>(io::OutputFile(*options.logits));  // a pipe's reader would take this for the end
  }
}

// The logits of every position of a fresh sequence.
models::Outputs evaluate(models::CausalLM& model, const std::vector<std::int32_t>& ids) {
  models::KVCache cache = model.make_cache(static_cast<std::int32_t>(ids.size()));
  models::Batch batch;
  batch.caches = {&cache};
  batch.add_chain(0, ids);
  models::Outputs outputs;
  outputs.want.assign(ids.size(), models::Want::kLogits);
  model.forward(batch, outputs);
  return outputs;
}

void print_likeliest(const std::vector<std::int32_t>& ids, const models::Outputs& outputs) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::int32_t best = outputs.argmax[i];
    const float logit = outputs.logits_of(static_cast<std::int32_t>(i))[static_cast<std::size_t>(best)];
    fmt::print("position {}: id {}, likeliest next {} ({:.4f})\n", i, ids[i], best, logit);
  }
}

// What needs the weights: the likeliest ids and logits, then the times.
void run_model(const Options& options, const Runtime& runtime, const Summary& summary, nlohmann::ordered_json& json) {
  const auto start = std::chrono::steady_clock::now();
  const std::unique_ptr<models::CausalLM> model =
      models::load_causal_lm(options.folder, runtime, {.dtype = options.dtype, .cache_dtype = std::nullopt});
  const double load_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  models::Outputs outputs;
  if (!options.ids.empty()) {
    outputs = evaluate(*model, options.ids);
    if (options.logits.has_value()) io::write_npy(*options.logits, outputs.logits);
    json["ids"] = options.ids;
    json["argmax"] = outputs.argmax;
  }
  print(summary, options.tensors);
  print_likeliest(options.ids, outputs);
  if (!options.time) return;
  const Timing timing = measure(*model, load_s);
  print(timing);
  json["timing"] = to_json(timing);
}

int run(const Options& options) {
  std::optional<io::OutputFile> file;
  if (options.json.has_value()) file.emplace(*options.json);
  const Summary summary = summarize(options.folder, options.dtype);
  check_requests(options, summary.config);
  nlohmann::ordered_json json = to_json(summary);
  ThreadPool threads(options.threads > 0 ? options.threads : default_thread_count());
  const Runtime runtime{.table = &kernels::best_cpu_table(), .threads = &threads};
  if (options.ids.empty() && !options.time) {
    print(summary, options.tensors);
  } else {
    run_model(options, runtime, summary, json);
  }
  json["threads"] = threads.size();
  json["isa"] = runtime.table->name;
  json["build"] = build_id();
  if (file.has_value()) write_json(*file, json);
  note_threads("inspect_model", threads.size());
  return kExitOk;
}

}  // namespace
}  // namespace minitorch::inspect_model

int main(int argc, char** argv) {
  using namespace minitorch;
  return run_program("inspect_model", [&] { return inspect_model::run(inspect_model::parse_options(argc, argv)); });
}
