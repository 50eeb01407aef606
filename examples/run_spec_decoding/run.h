// The program behind its command line.
#pragma once

#include "examples/run_spec_decoding/options.h"
#include "speculative/verifier.h"

namespace minitorch::run_spec_decoding {

// Decodes all prompts and reports; returns the exit code. Throws Error on bad input. `verifier` stands in for the one
// the options name, in tests of what happens when it is wrong.
[[nodiscard]] int run(const Options& options, const spec::Verifier* verifier = nullptr);

}  // namespace minitorch::run_spec_decoding
