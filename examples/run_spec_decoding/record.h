// Settings and RunInfo: what a run was asked for; Record: what came out of one prompt; Totals: of many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "examples/common/program.h"
#include "examples/run_spec_decoding/options.h"
#include "models/cost_curve.h"
#include "speculative/session.h"

namespace minitorch::run_spec_decoding {

// How tokens are drafted and chosen. A conversation changes it from record to record.
struct Settings {
  std::string drafter;
  std::int32_t gamma = 0;
  spec::SamplingOptions sampling;
  std::string verifier;  // of drafts; without a drafter that of plain decoding
  bool lossless = true;
  bool same_text_as_plain = true;
};
[[nodiscard]] Settings settings_of(const Options& options, const spec::SamplingOptions& sampling,
                                   const spec::Verifier& verifier);

// What is the same for all records of a run.
struct RunInfo {
  const Options& options;
  Settings settings;
  int threads = 0;
  std::string isa;
  // What passes cost, refined by those of the run; null or empty where it was not measured.
  const models::CostCurve* target_cost = nullptr;
  const models::CostCurve* draft_cost = nullptr;
};

// Times are medians over the measured runs. Without a drafter `speculative` and `baseline` are the same plain runs.
struct Record {
  std::string prompt;
  std::optional<Settings> settings;  // where they are not those of the whole run
  bool in_reasoning = false;         // the text begins inside the model's reasoning
  spec::GenerateResult speculative;
  std::optional<spec::GenerateResult> baseline;
  int repeat = 0;  // measured runs of each kind that were completed
  // Absent without a complete run of both, and where the verifier does not promise the text of plain decoding.
  std::optional<bool> identical;                // every run gave the tokens of plain decoding
  std::optional<std::size_t> first_difference;  // index of the first token that differs
  std::optional<double> speedup;                // speedup_of(); absent without a drafter
};

// Enters into the record whether `ids` are the expected ones: one run that differs makes the record differ.
void compare(std::span<const std::int32_t> ids, std::span<const std::int32_t> expected, Record& record);

struct Totals {
  spec::GenerationStats speculative;
  std::optional<spec::GenerationStats> baseline;
  std::size_t compared = 0;       // records with a verdict
  std::size_t identical = 0;      // of these
  std::optional<double> speedup;  // over the records that have one

  // All that was compared is identical; absent when nothing was.
  [[nodiscard]] std::optional<bool> all_identical() const {
    return compared == 0 ? std::nullopt : std::optional(identical == compared);
  }
};
[[nodiscard]] Totals sum_of(std::span<const Record> records);

// Identity that the verifier promised and the comparison refuted.
[[nodiscard]] constexpr int exit_code_of(bool identity_promised, std::optional<bool> identical) {
  return identity_promised && identical == false ? kExitBrokenPromise : kExitOk;
}

// Tokens per second, speculative / plain: the ratio of decode times where the texts are the same. Nothing where either
// took no pass.
[[nodiscard]] std::optional<double> speedup_of(const spec::GenerationStats& speculative,
                                               const spec::GenerationStats& baseline);

}  // namespace minitorch::run_spec_decoding
