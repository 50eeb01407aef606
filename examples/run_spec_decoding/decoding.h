// Decoding one prompt speculatively and plainly, several times in turn, and comparing the two.
#pragma once

#include <memory>
#include <vector>

#include "examples/run_spec_decoding/options.h"
#include "examples/run_spec_decoding/prompts.h"
#include "examples/run_spec_decoding/record.h"
#include "speculative/session.h"

namespace minitorch::run_spec_decoding {

class Report;

// Runs of one kind over one prompt.
class Runs {
 public:
  Runs(models::LoadedModel& loaded, spec::Drafter* drafter, const spec::Verifier& verifier, const Options& options);

  // Forgets the runs of the former prompt.
  void begin_prompt();
  // Decodes once from an empty cache. What is not `measured` counts for the text only.
  void decode(const Prompt& prompt, bool measured, const spec::Session::Callback& callback);
  // The last text with the median times.
  [[nodiscard]] spec::GenerateResult summary() const;
  // The new tokens of every run.
  [[nodiscard]] const std::vector<std::vector<std::int32_t>>& ids() const { return ids_; }

 private:
  spec::GenerateOptions generate_options_;
  spec::Session session_;
  spec::GenerateResult last_;
  std::vector<spec::GenerationStats> measured_;
  std::vector<std::vector<std::int32_t>> ids_;
};

class Decoding {
 public:
  Decoding(models::LoadedModel& loaded, const Options& options);

  [[nodiscard]] const spec::Verifier& verifier() const { return *verifier_; }
  // Decodes in turn; the last run of each kind is streamed to the report. Ends early, with what there is, when
  // interrupted.
  [[nodiscard]] Record decode(const Prompt& prompt, Report& report);

 private:
  // One run and, when it is the last of its kind or was interrupted, its section of the report. False: interrupted.
  bool decode_once(Runs& runs, const Prompt& prompt, int run, Report& report);

  const Options& options_;
  std::unique_ptr<spec::Drafter> drafter_;
  std::unique_ptr<spec::Verifier> verifier_;
  Runs speculative_;
  Runs baseline_;
};

}  // namespace minitorch::run_spec_decoding
