// The program behind its command line.
#pragma once

#include "examples/run_spec_decoding/options.h"
#include "speculative/verifier.h"

namespace minitorch::run_spec_decoding {

// Decodes all prompts and reports; returns the exit code. Throws Error on bad input.
[[nodiscard]] int run(const Options& options, const spec::Verifier& verifier);

}  // namespace minitorch::run_spec_decoding
