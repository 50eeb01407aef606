// Decoding one prompt speculatively and plainly, several times in turn, and comparing the two. Without a drafter there
// is nothing to compare with: it is decoded plainly only.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "examples/run_spec_decoding/loading.h"
#include "examples/run_spec_decoding/options.h"
#include "examples/run_spec_decoding/prompts.h"
#include "examples/run_spec_decoding/record.h"
#include "examples/run_spec_decoding/report.h"
#include "speculative/session.h"

namespace minitorch::run_spec_decoding {

// Runs of one kind over one prompt.
class Runs {
 public:
  Runs(models::LoadedModel& target, spec::Drafter* drafter, const spec::Verifier& verifier, const Options& options,
       const spec::SamplingOptions& sampling);

  // Forgets the runs of the former prompt.
  void begin_prompt();
  // Decodes once from empty caches. What is not `measured` counts for the text only.
  void decode(const Prompt& prompt, bool measured, const spec::Session::Callback& callback);
  // The last complete run's text with the median times; an interrupted one where none was completed.
  [[nodiscard]] spec::GenerateResult summary() const;
  // The new tokens of every complete run.
  [[nodiscard]] const std::vector<std::vector<std::int32_t>>& ids() const { return ids_; }
  // Complete measured runs.
  [[nodiscard]] int num_measured() const { return static_cast<int>(measured_.size()); }
  [[nodiscard]] bool started() const { return started_; }
  // Whether the report has this prompt's section already.
  [[nodiscard]] bool shown() const { return shown_; }
  void set_shown() { shown_ = true; }

 private:
  [[nodiscard]] spec::GenerateResult generate(const Prompt& prompt, const spec::Session::Callback& callback);

  std::string folder_;  // of the target: begins error messages
  spec::GenerateOptions generate_options_;
  spec::Drafter* drafter_;
  spec::Session session_;
  spec::GenerateResult last_;
  std::vector<spec::GenerationStats> measured_;
  std::vector<std::vector<std::int32_t>> ids_;
  bool started_ = false;
  bool shown_ = false;
};

// The drafter that the options name, for these models; its errors name the draft model's folder.
[[nodiscard]] std::unique_ptr<spec::Drafter> make_drafter(ModelPair& models, const std::string& name,
                                                          const Options& options);
// What does not depend on the runs: limits, ends, sampling, Ctrl-C.
[[nodiscard]] spec::GenerateOptions generate_options(models::LoadedModel& target, const Options& options,
                                                     const spec::SamplingOptions& sampling);

class Decoding {
 public:
  // All outlive it. Errors of a model name its folder. `verifier` decides about drafts; plain decoding is that of
  // spec::default_verifier().
  Decoding(ModelPair& models, const Options& options, const spec::SamplingOptions& sampling,
           const spec::Verifier& verifier);

  [[nodiscard]] bool drafts() const { return drafter_ != nullptr; }
  // Who decides: about drafts, or without a drafter in plain decoding.
  [[nodiscard]] const spec::Verifier& verifier() const { return drafts() ? verifier_ : *plain_verifier_; }
  // Decodes in turn; the last run of each kind is streamed to the report. Ends early, with what there is, when
  // interrupted.
  [[nodiscard]] Record decode(const Prompt& prompt, Report& report);

 private:
  // One run and, when it is the last of its kind, its section of the report. False: interrupted.
  bool decode_once(Section section, const Prompt& prompt, int run, Report& report);
  void report_interrupted(Report& report);

  const Options& options_;
  const spec::Verifier& verifier_;
  bool same_text_;  // the verifier promises the text of plain decoding
  std::unique_ptr<spec::Verifier> plain_verifier_;
  std::unique_ptr<spec::Drafter> drafter_;  // null: plain decoding only
  std::optional<Runs> speculative_;         // with a drafter
  Runs plain_;
};

}  // namespace minitorch::run_spec_decoding
