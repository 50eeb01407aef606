// run_spec_decoding: decodes a prompt speculatively and plainly, streams both texts, and compares texts and times.
//   run_spec_decoding --target MODEL --prompt "What is 12 * 7 + 5?"
#include <unistd.h>  // isatty

#include <cstdio>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "examples/common/program.h"
#include "examples/run_spec_decoding/decoding.h"
#include "examples/run_spec_decoding/interrupt.h"
#include "examples/run_spec_decoding/json_report.h"
#include "examples/run_spec_decoding/report.h"
#include "kernels/kernel_table.h"
#include "minitorch/base/check.h"
#include "minitorch/base/thread_pool.h"
#include "minitorch/io/file.h"

namespace minitorch::run_spec_decoding {
namespace {

std::vector<Record> decode_all(Decoding& decoding, const std::vector<Prompt>& prompts, const Options& options,
                               Report& report) {
  std::vector<Record> records;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    if (i > 0 && interrupted()) break;  // the first prompt always gives a record, if an empty one
    report.begin_prompt(prompts[i].origin, i, prompts.size());
    records.push_back(decoding.decode(prompts[i], report));
    report.verdict(records.back());
  }
  if (options.prompts_file.has_value()) report.totals(records);
  return records;
}

// Errors of the model name its folder.
std::vector<Record> decode_all_named(Decoding& decoding, const std::vector<Prompt>& prompts, const Options& options,
                                     Report& report) {
  try {
    return decode_all(decoding, prompts, options, report);
  } catch (const Error& error) {
    fail<Error>("{}: {}", options.target.string(), error.what());
  }
}

int run(const Options& options) {
  std::optional<io::OutputFile> file;
  if (options.json.has_value()) file.emplace(*options.json);
  std::vector<Prompt> prompts = read_prompts(options);
  ThreadPool threads(options.threads > 0 ? options.threads : default_thread_count());
  const Runtime runtime{.table = &kernels::best_cpu_table(), .threads = &threads};
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "loading {} ...\n", options.target.string());
  models::LoadedModel loaded =
      models::load_model(options.target, runtime, {.dtype = options.dtype, .cache_dtype = std::nullopt});
  encode_prompts(prompts, options, loaded);

  catch_interrupt();
  Decoding decoding(loaded, options);
  Report report(decoding.drafts(), options.trace);
  const std::vector<Record> records = decode_all_named(decoding, prompts, options, report);
  report.machine(runtime.table->name, threads.size());
  const spec::Verifier& verifier = decoding.verifier();
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

}  // namespace
}  // namespace minitorch::run_spec_decoding

int main(int argc, char** argv) {
  using namespace minitorch;
  return run_program("run_spec_decoding",
                     [&] { return run_spec_decoding::run(run_spec_decoding::parse_options(argc, argv)); });
}
