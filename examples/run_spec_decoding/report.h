// What people read: the text as it comes, figures behind it, the verdict.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "examples/run_spec_decoding/record.h"
#include "speculative/session.h"

namespace minitorch::run_spec_decoding {

enum class Section : std::uint8_t { kSpeculative, kBaseline };

class Report {
 public:
  // `trace` colours speculative tokens by their origin; figures of several runs are called medians.
  Report(bool trace, int num_runs);

  void begin_prompt(const std::string& origin, std::size_t index, std::size_t count) const;
  // A line on stderr while silent runs go on, when it is a terminal.
  void progress(Section section, int run, int num_runs) const;
  void begin(Section section);
  void token(Section section, const spec::TokenEvent& event);
  // Completes the text by what was held back until an abort, then the figures.
  void end(Section section, const spec::GenerateResult& result);
  void verdict(const Record& record) const;
  void totals(std::span<const Record> records) const;

 private:
  bool trace_;
  int num_runs_;
  std::size_t streamed_bytes_ = 0;
};

}  // namespace minitorch::run_spec_decoding
