// From options to reports and the exit code.
#include "examples/run_spec_decoding/run.h"

#include <optional>
#include <span>
#include <vector>

#include "examples/common/interrupt.h"
#include "examples/common/program.h"
#include "examples/run_spec_decoding/decoding.h"
#include "examples/run_spec_decoding/json_report.h"
#include "examples/run_spec_decoding/loading.h"
#include "examples/run_spec_decoding/report.h"
#include "kernels/kernel_table.h"
#include "minitorch/base/thread_pool.h"
#include "minitorch/io/file.h"

namespace minitorch::run_spec_decoding {
namespace {

std::vector<Record> decode_all(Decoding& decoding, const std::vector<Prompt>& prompts, const Options& options,
                               Report& report) {
  std::vector<Record> records;
  if (!options.has_prompt()) report.sample_prompt(prompts.front().text);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    if (i > 0 && interrupted()) break;  // the first prompt always gives a record, if an empty one
    report.begin_prompt(prompts[i].origin, i, prompts.size());
    records.push_back(decoding.decode(prompts[i], report));
    report.verdict(records.back());
  }
  if (options.prompts_file.has_value()) report.totals(records);
  return records;
}

}  // namespace

int run(const Options& options, const spec::Verifier& verifier) {
  std::optional<io::OutputFile> file;
  if (options.json.has_value()) file.emplace(*options.json);
  std::vector<Prompt> prompts = read_prompts(options);
  ThreadPool threads(options.threads > 0 ? options.threads : default_thread_count());
  const Runtime runtime{.table = &kernels::best_cpu_table(), .threads = &threads};
  ModelPair models = load_models(options, runtime);
  encode_prompts(prompts, options, models.target);

  catch_interrupt();
  Decoding decoding(models, options, verifier);
  Report report(decoding.drafts(), options.trace);
  const std::vector<Record> records = decode_all(decoding, prompts, options, report);
  report.setting(options, runtime.table->name, threads.size());
  if (file.has_value()) {
    const RunInfo info{
        .options = options, .verifier = verifier, .threads = threads.size(), .isa = std::string(runtime.table->name)};
    const std::string json = to_json(records, info);
    file->write(std::as_bytes(std::span(json)));
    file->commit();
  }
  note_threads("run_spec_decoding", threads.size());
  const bool promised = verifier.lossless() && verifier.same_text_as_plain();
  const int code = exit_code_of(promised, sum_of(records).all_identical());
  return code == kExitOk && interrupted() ? kExitInterrupted : code;
}

}  // namespace minitorch::run_spec_decoding
