// Sums over records.
#include "examples/run_spec_decoding/record.h"

#include <algorithm>  // std::mismatch

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
  const std::optional<double> fast = speculative.tokens_per_s();
  const std::optional<double> plain = baseline.tokens_per_s();
  return fast.has_value() && plain.has_value() && *plain > 0.0 ? std::optional(*fast / *plain) : std::nullopt;
}

void compare(std::span<const std::int32_t> ids, std::span<const std::int32_t> expected, Record& record) {
  const auto [mine, other] = std::mismatch(ids.begin(), ids.end(), expected.begin(), expected.end());
  const bool same = mine == ids.end() && other == expected.end();
  record.identical = same && record.identical.value_or(true);
  if (!same) record.first_difference = static_cast<std::size_t>(mine - ids.begin());
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
    if (record.speedup.has_value()) {
      compared_speculative += record.speculative.stats;
      compared_baseline += record.baseline->stats;
    }
    if (!record.identical.has_value()) continue;
    ++totals.compared;
    totals.identical += *record.identical ? 1 : 0;
  }
  totals.speedup = speedup_of(compared_speculative, compared_baseline);
  return totals;
}

}  // namespace minitorch::run_spec_decoding
