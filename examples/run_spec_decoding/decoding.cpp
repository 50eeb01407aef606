// Decoding in turn and comparing.
#include "examples/run_spec_decoding/decoding.h"

#include <algorithm>
#include <span>

#include "examples/run_spec_decoding/interrupt.h"

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

// Every run must have given the tokens of the first one.
void compare(const Runs& runs, const std::vector<std::int32_t>& expected, Record& record) {
  for (const std::vector<std::int32_t>& ids : runs.ids()) {
    if (ids == expected) continue;
    const auto difference = std::mismatch(ids.begin(), ids.end(), expected.begin(), expected.end()).first;
    record.identical = false;
    record.first_difference = static_cast<std::size_t>(difference - ids.begin());
  }
}

}  // namespace

Runs::Runs(models::LoadedModel& loaded, spec::Drafter* drafter, const spec::Verifier& verifier, const Options& options)
    : generate_options_(generate_options(loaded, options)),
      session_(*loaded.model, &loaded.tokenizer, drafter, verifier) {}

void Runs::begin_prompt() {
  last_ = {};
  started_ = shown_ = false;
  measured_.clear();
  ids_.clear();
}

void Runs::decode(const Prompt& prompt, bool measured, const spec::Session::Callback& callback) {
  session_.reset();  // so that every run pays for the whole prompt
  started_ = true;
  spec::GenerateResult result = session_.generate(prompt.ids, generate_options_, callback);
  const bool aborted = result.finish_reason == spec::FinishReason::kAborted;
  if (aborted && !ids_.empty()) return;  // earlier runs are complete
  last_ = std::move(result);
  if (aborted) return;
  ids_.push_back(last_.ids);
  if (measured) measured_.push_back(last_.stats);
}

spec::GenerateResult Runs::summary() const {
  spec::GenerateResult result = last_;
  if (measured_.empty()) return result;
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
      plain_(loaded, nullptr, *verifier_, options) {
  if (drafts()) speculative_.emplace(loaded, drafter_.get(), *verifier_, options);
}

Record Decoding::decode(const Prompt& prompt, Report& report) {
  if (speculative_) speculative_->begin_prompt();
  plain_.begin_prompt();
  const int num_runs = options_.warmup + options_.repeat;
  bool go_on = true;
  for (int run = 0; run < num_runs && go_on; ++run) {
    if (speculative_) go_on = decode_once(Section::kSpeculative, prompt, run, report);
    if (go_on && (options_.baseline || !speculative_)) go_on = decode_once(Section::kBaseline, prompt, run, report);
  }
  if (!go_on) report_interrupted(report);
  const Runs& first = speculative_ ? *speculative_ : plain_;
  Record record;
  record.prompt = prompt.text;
  record.speculative = first.summary();
  record.repeat = first.num_measured();
  if (!options_.baseline || !plain_.started()) return record;
  record.baseline = plain_.summary();
  record.repeat = std::min(record.repeat, plain_.num_measured());
  if (first.ids().empty() || plain_.ids().empty()) return record;
  record.identical = true;
  compare(plain_, plain_.ids().front(), record);
  if (!speculative_) return record;
  compare(*speculative_, plain_.ids().front(), record);
  record.speedup = speedup_of(record.speculative.stats, record.baseline->stats);
  return record;
}

bool Decoding::decode_once(Section section, const Prompt& prompt, int run, Report& report) {
  Runs& runs = section == Section::kSpeculative ? *speculative_ : plain_;
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
  if (shown) {
    report.end(section, runs.summary(), runs.num_measured());
    runs.set_shown();
  }
  return !interrupted();
}

// The sections that an interrupt kept from being shown, with what there is.
void Decoding::report_interrupted(Report& report) {
  const auto show = [&](Section section, Runs& runs) {
    if (!runs.started() || runs.shown()) return;
    report.begin(section);
    report.end(section, runs.summary(), runs.num_measured());
  };
  if (speculative_) show(Section::kSpeculative, *speculative_);
  show(Section::kBaseline, plain_);
}

}  // namespace minitorch::run_spec_decoding
