// From options to reports and the exit code.
#include "examples/run_spec_decoding/run.h"

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "examples/common/interrupt.h"
#include "examples/common/program.h"
#include "examples/run_spec_decoding/decoding.h"
#include "examples/run_spec_decoding/json_report.h"
#include "examples/run_spec_decoding/loading.h"
#include "examples/run_spec_decoding/report.h"
#include "examples/run_spec_decoding/sampling.h"
#include "kernels/kernel_table.h"
#include "minitorch/base/thread_pool.h"
#include "minitorch/io/file.h"

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

}  // namespace

int run(const Options& options, const spec::Verifier* verifier) {
  std::optional<io::OutputFile> file;
  if (options.json.has_value()) file.emplace(*options.json);
  std::vector<Prompt> prompts = read_prompts(options);
  ThreadPool threads(options.threads > 0 ? options.threads : default_thread_count());
  const Runtime runtime{.table = &kernels::best_cpu_table(), .threads = &threads};
  ModelPair models = load_models(options, runtime);
  const spec::SamplingOptions sampling = sampling_of(options, models.target.config.generation);
  const std::unique_ptr<spec::Verifier> named = make_verifier(options.verifier, sampling);
  if (verifier == nullptr) verifier = named.get();
  encode_prompts(prompts, options, models.target);

  catch_interrupt();
  Decoding decoding(models, options, sampling, *verifier);
  // Without drafts nobody decides about them.
  const std::unique_ptr<spec::Verifier> plain = spec::default_verifier(sampling).make();
  if (!decoding.drafts()) verifier = plain.get();
  const RunInfo info{.options = options,
                     .sampling = sampling,
                     .verifier = *verifier,
                     .threads = threads.size(),
                     .isa = std::string(runtime.table->name)};
  Report report(decoding.drafts(), options.trace);
  const std::vector<Record> records = decode_all(decoding, prompts, info, report);
  report.setting(info);
  if (file.has_value()) {
    const std::string json = to_json(records, info);
    file->write(std::as_bytes(std::span(json)));
    file->commit();
  }
  note_threads("run_spec_decoding", threads.size());
  const int code = exit_code_of(verifier->same_text_as_plain(sampling), sum_of(records).all_identical());
  return code == kExitOk && interrupted() ? kExitInterrupted : code;
}

}  // namespace minitorch::run_spec_decoding
