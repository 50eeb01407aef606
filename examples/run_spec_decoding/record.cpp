// Sums over records.
#include "examples/run_spec_decoding/record.h"

namespace minitorch::run_spec_decoding {

Settings settings_of(const Options& options, const spec::SamplingOptions& sampling, const spec::Verifier& verifier) {
  return {.drafter = options.drafter,
          .gamma = options.gamma,
          .sampling = sampling,
          .verifier = std::string(verifier.name()),
          .lossless = verifier.lossless(),
          .same_text_as_plain = verifier.same_text_as_plain(sampling)};
}

std::optional<double> speedup_of(const spec::GenerationStats& speculative, const spec::GenerationStats& baseline) {
  const bool measured = speculative.target_passes > 0 && baseline.target_passes > 0 && speculative.decode_s > 0.0;
  return measured ? std::optional(baseline.decode_s / speculative.decode_s) : std::nullopt;
}

Totals sum_of(std::span<const Record> records) {
  Totals totals;
  spec::GenerationStats compared_speculative;
  spec::GenerationStats compared_baseline;
  for (const Record& record : records) {
    totals.speculative += record.speculative.stats;
    if (!record.baseline.has_value()) continue;
    if (!totals.baseline.has_value()) totals.baseline.emplace();
    *totals.baseline += record.baseline->stats;
    if (!record.identical.has_value()) continue;
    ++totals.compared;
    totals.identical += *record.identical ? 1 : 0;
    if (!record.speedup.has_value()) continue;
    compared_speculative += record.speculative.stats;
    compared_baseline += record.baseline->stats;
  }
  totals.speedup = speedup_of(compared_speculative, compared_baseline);
  return totals;
}

}  // namespace minitorch::run_spec_decoding
