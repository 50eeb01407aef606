// Decoding in turn and comparing.
#include "examples/run_spec_decoding/decoding.h"

#include <algorithm>
#include <span>

#include "examples/common/interrupt.h"
#include "minitorch/base/check.h"

namespace minitorch::run_spec_decoding {
namespace {

// An error of the draft model; its folder is named already.
class DraftError : public Error {
 public:
  using Error::Error;
};

// A drafter whose errors name the folder of its model.
class NamedDrafter : public spec::Drafter {
 public:
  NamedDrafter(std::unique_ptr<spec::Drafter> drafter, std::string folder)
      : drafter_(std::move(drafter)), folder_(std::move(folder)) {}

  [[nodiscard]] std::string_view name() const override { return drafter_->name(); }
  void reset() override { drafter_->reset(); }
  void propose(const spec::DraftRequest& request, spec::Draft& draft) override {
    try {
      drafter_->propose(request, draft);
    } catch (const Error& error) {
      fail<DraftError>("{}: {}", folder_, error.what());
    }
  }
  void observe(std::span<const std::int32_t> history, const spec::Draft& draft, const spec::Verdict& verdict) override {
    drafter_->observe(history, draft, verdict);
  }

 private:
  std::unique_ptr<spec::Drafter> drafter_;
  std::string folder_;
};

std::vector<std::int32_t> end_tokens(const models::LoadedModel& loaded) {
  std::vector<std::int32_t> ids = loaded.config.eos_token_ids;
  if (const auto id = loaded.tokenizer.eos_id(); id.has_value()) ids.push_back(*id);
  return ids;
}

double median(std::span<const spec::GenerationStats> runs, double spec::GenerationStats::*field) {
  std::vector<double> values;
  for (const spec::GenerationStats& run : runs) values.push_back(run.*field);
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace

std::unique_ptr<spec::Drafter> make_drafter(ModelPair& models, const std::string& name, const Options& options) {
  spec::DrafterOptions drafter_options;
  if (models.draft.has_value()) drafter_options.draft_model = models.draft->model.get();
  drafter_options.target_model = models.target.model.get();
  std::unique_ptr<spec::Drafter> drafter = spec::find_drafter(name).make(drafter_options);
  if (drafter == nullptr || !options.draft.has_value()) return drafter;
  return std::make_unique<NamedDrafter>(std::move(drafter), options.draft->string());
}

spec::GenerateOptions generate_options(models::LoadedModel& target, const Options& options,
                                       const spec::SamplingOptions& sampling) {
  spec::GenerateOptions result;
  result.max_new_tokens = options.max_new_tokens;
  result.gamma = options.gamma;
  if (!options.ignore_eos) result.end_tokens = end_tokens(target);
  result.stop_strings = options.stop_strings;
  result.sampling = sampling;
  result.pass_cost = &target.pass_cost;
  result.stop_requested = &interrupted();
  return result;
}

Runs::Runs(models::LoadedModel& target, spec::Drafter* drafter, const spec::Verifier& verifier, const Options& options,
           const spec::SamplingOptions& sampling)
    : folder_(options.target.string()),
      generate_options_(generate_options(target, options, sampling)),
      drafter_(drafter),
      session_(*target.model, &target.tokenizer, drafter, verifier) {}

void Runs::begin_prompt() {
  last_ = {};
  started_ = shown_ = false;
  measured_.clear();
  ids_.clear();
}

void Runs::decode(const Prompt& prompt, bool measured, const spec::Session::Callback& callback) {
  // Every run pays for the whole prompt, in the draft model too: that keeps what the next text shares with the last
  // one, which is nothing once it has seen a text of one token.
  session_.reset();
  if (drafter_ != nullptr) {
    drafter_->reset();
    drafter_->observe(std::span(prompt.ids).first(1), {}, {});
  }
  started_ = true;
  spec::GenerateResult result = generate(prompt, callback);
  const bool aborted = result.finish_reason == spec::FinishReason::kAborted;
  if (aborted && !ids_.empty()) return;  // earlier runs are complete
  last_ = std::move(result);
  if (aborted) return;
  ids_.push_back(last_.ids);
  if (measured) measured_.push_back(last_.stats);
}

spec::GenerateResult Runs::generate(const Prompt& prompt, const spec::Session::Callback& callback) {
  try {
    return session_.generate(prompt.ids, generate_options_, callback);
  } catch (const DraftError&) {
    throw;
  } catch (const Error& error) {
    fail<Error>("{}: {}", folder_, error.what());
  }
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

Decoding::Decoding(ModelPair& models, const Options& options, const spec::SamplingOptions& sampling,
                   const spec::Verifier& verifier)
    : options_(options),
      verifier_(verifier),
      same_text_(verifier.same_text_as_plain(sampling)),
      plain_verifier_(spec::default_verifier(sampling).make()),
      drafter_(make_drafter(models, options.drafter, options)),
      plain_(models.target, nullptr, *plain_verifier_, options, sampling) {
  if (drafts()) speculative_.emplace(models.target, drafter_.get(), verifier, options, sampling);
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
  record.in_reasoning = prompt.in_reasoning;
  record.speculative = first.summary();
  record.repeat = first.num_measured();
  if (!options_.baseline || !plain_.started()) return record;
  record.baseline = plain_.summary();
  record.repeat = std::min(record.repeat, plain_.num_measured());
  if (first.ids().empty() || plain_.ids().empty()) return record;
  if (speculative_) record.speedup = speedup_of(record.speculative.stats, record.baseline->stats);
  if (speculative_ && !same_text_) return record;
  // Every run must have given the tokens of the first one.
  const std::vector<std::int32_t>& expected = plain_.ids().front();
  for (const std::vector<std::int32_t>& ids : plain_.ids()) compare(ids, expected, record);
  if (!speculative_) return record;
  for (const std::vector<std::int32_t>& ids : speculative_->ids()) compare(ids, expected, record);
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
