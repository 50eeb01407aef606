// Decoding in turn and comparing.
#include "examples/run_spec_decoding/decoding.h"

#include <algorithm>
#include <span>

#include "examples/run_spec_decoding/interrupt.h"
#include "examples/run_spec_decoding/report.h"

namespace minitorch::run_spec_decoding {
namespace {

std::vector<std::int32_t> end_tokens(const models::LoadedModel& loaded) {
  std::vector<std::int32_t> ids = loaded.config.eos_token_ids;
  if (const auto id = loaded.tokenizer.eos_id(); id.has_value()) ids.push_back(*id);
  return ids;
}

spec::GenerateOptions generate_options(const models::LoadedModel& loaded, const Options& options) {
  spec::GenerateOptions result;
  result.max_new_tokens = options.max_new_tokens;
  result.gamma = options.gamma;
  if (!options.ignore_eos) result.end_tokens = end_tokens(loaded);
  result.stop_strings = options.stop_strings;
  result.stop_requested = &interrupted();
  return result;
}

double median(std::span<const spec::GenerationStats> runs, double spec::GenerationStats::*field) {
  std::vector<double> values;
  for (const spec::GenerationStats& run : runs) values.push_back(run.*field);
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

void compare(const Runs& speculative, const Runs& baseline, Record& record) {
  const std::vector<std::int32_t>& expected = baseline.ids().front();
  record.identical = true;
  for (const Runs* runs : {&baseline, &speculative}) {
    for (const std::vector<std::int32_t>& ids : runs->ids()) {
      if (ids == expected) continue;
      const auto difference = std::mismatch(ids.begin(), ids.end(), expected.begin(), expected.end()).first;
      record.identical = false;
      record.first_difference = static_cast<std::size_t>(difference - ids.begin());
    }
  }
  record.speedup = speedup_of(record.speculative.stats, record.baseline->stats);
}

}  // namespace

Runs::Runs(models::LoadedModel& loaded, spec::Drafter* drafter, const spec::Verifier& verifier, const Options& options)
    : generate_options_(generate_options(loaded, options)),
      session_(*loaded.model, &loaded.tokenizer, drafter, verifier) {}

void Runs::begin_prompt() {
  last_ = {};
  measured_.clear();
  ids_.clear();
}

void Runs::decode(const Prompt& prompt, bool measured, const spec::Session::Callback& callback) {
  session_.reset();  // so that every run pays for the whole prompt
  last_ = session_.generate(prompt.ids, generate_options_, callback);
  ids_.push_back(last_.ids);
  if (measured) measured_.push_back(last_.stats);
}

spec::GenerateResult Runs::summary() const {
  spec::GenerateResult result = last_;
  if (measured_.empty() || last_.finish_reason == spec::FinishReason::kAborted) return result;
  for (const auto field : {&spec::GenerationStats::prefill_s, &spec::GenerationStats::decode_s,
                           &spec::GenerationStats::draft_s, &spec::GenerationStats::verify_s}) {
    result.stats.*field = median(measured_, field);
  }
  return result;
}

Decoding::Decoding(models::LoadedModel& loaded, const Options& options)
    : options_(options),
      drafter_(spec::find_drafter(options.drafter).make({})),
      verifier_(spec::find_verifier("greedy").make()),
      speculative_(loaded, drafter_.get(), *verifier_, options),
      baseline_(loaded, nullptr, *verifier_, options) {}

Record Decoding::decode(const Prompt& prompt, Report& report) {
  speculative_.begin_prompt();
  baseline_.begin_prompt();
  const int num_runs = options_.warmup + options_.repeat;
  bool complete = true;
  for (int run = 0; run < num_runs && complete; ++run) {
    complete = decode_once(speculative_, prompt, run, report);
    if (complete && options_.baseline) complete = decode_once(baseline_, prompt, run, report);
  }
  Record record;
  record.prompt = prompt.text;
  record.speculative = speculative_.summary();
  if (!baseline_.ids().empty()) record.baseline = baseline_.summary();
  if (complete && options_.baseline) compare(speculative_, baseline_, record);
  return record;
}

bool Decoding::decode_once(Runs& runs, const Prompt& prompt, int run, Report& report) {
  const Section section = &runs == &speculative_ ? Section::kSpeculative : Section::kBaseline;
  const int num_runs = options_.warmup + options_.repeat;
  const bool shown = run + 1 == num_runs;
  if (shown) {
    report.begin(section);
  } else {
    report.progress(section, run, num_runs);
  }
  runs.decode(prompt, /*measured=*/run >= options_.warmup, [&](const spec::TokenEvent& event) {
    if (shown) report.token(section, event);
    return true;
  });
  if (!shown && interrupted()) report.begin(section);
  if (shown || interrupted()) report.end(section, runs.summary());
  return !interrupted();
}

}  // namespace minitorch::run_spec_decoding
