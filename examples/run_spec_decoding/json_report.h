// What machines read: the results as JSON.
#pragma once

#include <span>
#include <string>

#include "examples/run_spec_decoding/options.h"
#include "examples/run_spec_decoding/record.h"
#include "speculative/verifier.h"

namespace minitorch::run_spec_decoding {

// What is the same for all records of a run.
struct RunInfo {
  const Options& options;
  const spec::Verifier& verifier;
  int threads = 0;
  std::string isa;
};

// One record for a single prompt; {"records": [...], "totals": {...}} for --prompts. Rates are null where nothing was
// counted.
[[nodiscard]] std::string to_json(std::span<const Record> records, const RunInfo& info);

}  // namespace minitorch::run_spec_decoding
