// How tokens are chosen: from the command line and the model's own settings.
#pragma once

#include <memory>
#include <string>

#include "examples/run_spec_decoding/options.h"
#include "models/config.h"
#include "speculative/verifier.h"

namespace minitorch::run_spec_decoding {

// What the command line leaves open the model's generation_config.json decides.
[[nodiscard]] spec::SamplingOptions sampling_of(const Options& options, const models::GenerationDefaults& defaults);

// The verifier that `name` ("auto" or a registered one) means with these settings. Throws UsageError where they do not
// go together.
[[nodiscard]] std::unique_ptr<spec::Verifier> make_verifier(const std::string& name,
                                                            const spec::SamplingOptions& sampling);

// "temperature 0.6, top_p 0.95, seed 0": what acts at this temperature.
[[nodiscard]] std::string to_string(const spec::SamplingOptions& sampling);

}  // namespace minitorch::run_spec_decoding
