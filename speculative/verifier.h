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

namespace minitorch::spec {

// The target's answer to one draft: row 0 of `outputs` (plus `first_row`) follows the last committed token, row i + 1
// follows node i.
struct TargetRows {
  const models::Outputs& outputs;
  std::int32_t first_row = 0;

  // Row of the outputs for a node, or for Draft::kRoot.
  [[nodiscard]] std::int32_t row_of(std::int32_t node) const { return first_row + node + 1; }
};

class Verifier {
 public:
  virtual ~Verifier() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual models::Want want() const = 0;  // of every row
  // The text has the target's own distribution (at temperature 0: is the target's own text).
  [[nodiscard]] virtual bool lossless() const = 0;
  // The same seed gives the very text that plain decoding gives.
  [[nodiscard]] virtual bool same_text_as_plain() const = 0;
  virtual void verify(const Draft& draft, const TargetRows& rows, const SamplingOptions& options, Chooser& chooser,
                      Verdict& verdict) const = 0;
};

struct VerifierInfo {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<Verifier> (*make)();
};

// All verifiers by name; the array in verifiers/registry.cpp.
[[nodiscard]] std::span<const VerifierInfo> verifiers();
[[nodiscard]] const VerifierInfo& find_verifier(std::string_view name);

}  // namespace minitorch::spec
