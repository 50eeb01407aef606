// What people read: the text as it comes, figures behind it, the verdict.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "examples/run_spec_decoding/record.h"
#include "speculative/session.h"

namespace minitorch::run_spec_decoding {

enum class Section : std::uint8_t { kSpeculative, kBaseline };

// The colour of a token in a trace, as a terminal's escape sequence; empty: as it is.
[[nodiscard]] std::string_view colour_of(spec::TokenOrigin origin);
[[nodiscard]] std::string coloured(std::string_view text, std::string_view colour);
// One line of figures: "36 tokens, 2786.98 tokens/s, 4.38 tokens per pass, acceptance 0.844, stop".
[[nodiscard]] std::string summary_of(const spec::GenerateResult& result);

class Report {
 public:
  // Without `drafts` there are plain runs only, and nothing is compared. `trace` colours speculative tokens by their
  // origin.
  Report(bool drafts, bool trace);

  // The prompt of a run that was given none.
  void sample_prompt(std::string_view text) const;
  void begin_prompt(const std::string& origin, std::size_t index, std::size_t count) const;
  // A line on stderr while silent runs go on, when it is a terminal.
  void progress(Section section, int run, int num_runs) const;
  void begin(Section section);
  void token(Section section, const spec::TokenEvent& event);
  // Completes the text by what was held back until an abort, then the figures; those of several runs are called
  // medians.
  void end(Section section, const spec::GenerateResult& result, int num_measured);
  // `info` explains what was not compared.
  void verdict(const Record& record, const RunInfo& info) const;
  void totals(std::span<const Record> records, const RunInfo& info) const;
  // Closes the report with the models and what they ran on.
  void setting(const RunInfo& info) const;

 private:
  bool drafts_;
  bool trace_;
  std::size_t streamed_bytes_ = 0;
};

}  // namespace minitorch::run_spec_decoding
