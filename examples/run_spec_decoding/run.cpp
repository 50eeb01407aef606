// From options to reports and the exit code.
#include "examples/run_spec_decoding/run.h"

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "examples/common/interrupt.h"
#include "examples/common/program.h"
#include "examples/run_spec_decoding/conversation.h"
#include "examples/run_spec_decoding/decoding.h"
#include "examples/run_spec_decoding/interactive.h"
#include "examples/run_spec_decoding/json_report.h"
#include "examples/run_spec_decoding/loading.h"
#include "examples/run_spec_decoding/report.h"
#include "examples/run_spec_decoding/sampling.h"
#include "kernels/kernel_table.h"
#include "minitorch/base/thread_pool.h"
#include "minitorch/io/file.h"
#include "models/cost_cache.h"

namespace minitorch::run_spec_decoding {
namespace {

std::vector<Record> decode_all(Decoding& decoding, const std::vector<Prompt>& prompts, const RunInfo& info,
                               Report& report) {
  std::vector<Record> records;
  if (!info.options.has_prompt()) report.sample_prompt(prompts.front().text);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    if (i > 0 && interrupted()) break;  // the first prompt always gives a record, if an empty one
    report.begin_prompt(prompts[i].origin, i, prompts.size());
    records.push_back(decoding.decode(prompts[i], report));
    report.verdict(records.back(), info);
  }
  if (info.options.prompts_file.has_value()) report.totals(records, info);
  return records;
}

// What a run stands on.
struct Setup {
  ThreadPool threads;
  Runtime runtime;
  ModelPair models;
  spec::SamplingOptions sampling;

  explicit Setup(const Options& options)
      : threads(options.threads > 0 ? options.threads : default_thread_count()),
        runtime{.table = &kernels::best_cpu_table(), .threads = &threads},
        models(load_models(options, runtime)),
        sampling(sampling_of(options, models.target.config.generation)) {
    if (options.json.has_value()) measure_costs(options);
  }

  // Only the record names what passes cost, so far.
  void measure_costs(const Options& options) {
    models.target.pass_cost = models::cost_curve_of(*models.target.model, options.target, runtime);
    if (!models.draft.has_value()) return;
    models.draft->pass_cost = models::cost_curve_of(*models.draft->model, *options.draft, runtime);
  }

  [[nodiscard]] RunInfo info(const Options& options, Settings settings) const {
    return {.options = options,
            .settings = std::move(settings),
            .threads = threads.size(),
            .isa = std::string(runtime.table->name),
            .target_cost = &models.target.pass_cost,
            .draft_cost = models.draft.has_value() ? &models.draft->pass_cost : nullptr};
  }
};

void write_json(io::OutputFile& file, std::span<const Record> records, const RunInfo& info) {
  const std::string json = to_json(records, info);
  file.write(std::as_bytes(std::span(json)));
  file.commit();
}

int run_prompts(const Options& options, const spec::Verifier* verifier, std::optional<io::OutputFile>& file) {
  std::vector<Prompt> prompts = read_prompts(options);
  Setup setup(options);
  const std::unique_ptr<spec::Verifier> named = make_verifier(options.verifier, setup.sampling);
  encode_prompts(prompts, options, setup.models.target);

  catch_interrupt();
  Decoding decoding(setup.models, options, setup.sampling, verifier != nullptr ? *verifier : *named);
  const RunInfo info = setup.info(options, settings_of(options, setup.sampling, decoding.verifier()));
  Report report(decoding.drafts(), options.trace);
  const std::vector<Record> records = decode_all(decoding, prompts, info, report);
  report.setting(info);
  if (file.has_value()) write_json(*file, records, info);
  note_threads("run_spec_decoding", setup.threads.size());
  const int code = exit_code_of(info.settings.same_text_as_plain, sum_of(records).all_identical());
  return code == kExitOk && interrupted() ? kExitInterrupted : code;
}

int run_conversation(const Options& options, std::optional<io::OutputFile>& file) {
  Setup setup(options);
  Conversation conversation(setup.models, options, setup.sampling);
  catch_interrupt();
  std::vector<Record> records;
  const bool interrupted_at_prompt = converse(conversation, records);
  if (file.has_value()) write_json(*file, records, setup.info(options, conversation.settings()));
  note_threads("run_spec_decoding", setup.threads.size());
  // Texts are compared only where their identity was promised.
  const int code = exit_code_of(/*identity_promised=*/true, sum_of(records).all_identical());
  return code == kExitOk && interrupted_at_prompt ? kExitInterrupted : code;
}

}  // namespace

int run(const Options& options, const spec::Verifier* verifier) {
  std::optional<io::OutputFile> file;
  if (options.json.has_value()) file.emplace(*options.json);
  return options.interactive ? run_conversation(options, file) : run_prompts(options, verifier, file);
}

}  // namespace minitorch::run_spec_decoding
