// Verifier: decides which drafted tokens stand, from the target's outputs over the draft tree.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "models/causal_lm.h"
#include "speculative/chooser.h"
#include "speculative/distribution.h"
#include "speculative/draft.h"
#include "speculative/drafter.h"

namespace minitorch::spec {

// The target's answer to one draft: the row `first_row` of the outputs follows the last committed token, the row
// i + 1 behind it follows node i. A node's distribution is computed when it is asked for, as most rows behind the
// first rejection never are.
class TargetRows {
 public:
  // All outlive it. `buffer` lends its memory to distribution_behind().
  TargetRows(const models::Outputs& outputs, std::int32_t first_row, const SamplingOptions& sampling,
             Distribution& buffer)
      : outputs_(outputs), first_row_(first_row), sampling_(sampling), buffer_(buffer) {}

  // `node` is a node of the draft or Draft::kRoot. Both throw Error when the target gave no such output.
  [[nodiscard]] std::int32_t argmax_behind(std::int32_t node) const;
  // What plain sampling draws from behind the node. Stays until the next call; the caller may change it.
  [[nodiscard]] Distribution& distribution_behind(std::int32_t node) const;

  [[nodiscard]] const models::Outputs& outputs() const { return outputs_; }
  [[nodiscard]] std::int32_t first_row() const { return first_row_; }
  [[nodiscard]] const SamplingOptions& sampling() const { return sampling_; }
  [[nodiscard]] Distribution& buffer() const { return buffer_; }

 private:
  const models::Outputs& outputs_;
  std::int32_t first_row_;
  const SamplingOptions& sampling_;
  Distribution& buffer_;
};

class Verifier {
 public:
  virtual ~Verifier() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual models::Want want() const = 0;  // of every row
  // How a draft model draws for this rule.
  [[nodiscard]] virtual DraftSampling draft_sampling() const = 0;
  // Throws Error that says why where the rule does not go with these settings.
  virtual void check(const SamplingOptions& sampling) const = 0;
  // The text has the target's own distribution (at temperature 0: is the target's own text).
  [[nodiscard]] virtual bool lossless() const = 0;
  // The same seed gives the very text that plain decoding gives with these settings.
  [[nodiscard]] virtual bool same_text_as_plain(const SamplingOptions& sampling) const = 0;
  virtual void verify(const Draft& draft, const TargetRows& rows, Chooser& chooser, Verdict& verdict) const = 0;
};

struct VerifierInfo {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<Verifier> (*make)();
};

// All verifiers by name; the array in verifiers/registry.cpp.
[[nodiscard]] std::span<const VerifierInfo> verifiers();
[[nodiscard]] const VerifierInfo& find_verifier(std::string_view name);
// The one whose text is that of plain decoding: "greedy" at temperature 0, "coupled" above it. Plain decoding is this
// one without a draft.
[[nodiscard]] const VerifierInfo& default_verifier(const SamplingOptions& sampling);

}  // namespace minitorch::spec
