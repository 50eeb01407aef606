// Sampling settings and the verifier that goes with them.
#include "examples/run_spec_decoding/sampling.h"

#include <fmt/format.h>

#include "examples/common/program.h"
#include "minitorch/base/error.h"

namespace minitorch::run_spec_decoding {

spec::SamplingOptions sampling_of(const Options& options, const models::GenerationDefaults& defaults) {
  return {.temperature = options.temperature.value_or(defaults.temperature),
          .top_k = options.top_k.value_or(defaults.top_k),
          .top_p = options.top_p.value_or(defaults.top_p),
          .min_p = options.min_p.value_or(defaults.min_p),
          .seed = options.seed};
}

std::unique_ptr<spec::Verifier> make_verifier(const std::string& name, const spec::SamplingOptions& sampling) {
  if (name == "auto") return spec::default_verifier(sampling).make();
  std::unique_ptr<spec::Verifier> verifier = spec::find_verifier(name).make();
  try {
    verifier->check(sampling);
  } catch (const Error& error) {
    throw UsageError(fmt::format("--{}", error.what()));
  }
  return verifier;
}

std::string to_string(const spec::SamplingOptions& sampling) {
  std::string text = fmt::format("temperature {}", sampling.temperature);
  if (sampling.temperature == 0.0) return text;
  if (sampling.top_k > 0) text += fmt::format(", top_k {}", sampling.top_k);
  if (sampling.top_p < 1.0) text += fmt::format(", top_p {}", sampling.top_p);
  if (sampling.min_p > 0.0) text += fmt::format(", min_p {}", sampling.min_p);
  return text + fmt::format(", seed {}", sampling.seed);
}

}  // namespace minitorch::run_spec_decoding
