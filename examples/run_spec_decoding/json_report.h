// What machines read: the results as JSON.
#pragma once

#include <span>
#include <string>

#include "examples/run_spec_decoding/record.h"

namespace minitorch::run_spec_decoding {

// One record for a single prompt; {"records": [...], "totals": {...}} for --prompts and --interactive. Rates are null
// where nothing was counted.
[[nodiscard]] std::string to_json(std::span<const Record> records, const RunInfo& info);

}  // namespace minitorch::run_spec_decoding
