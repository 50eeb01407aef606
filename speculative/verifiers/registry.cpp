// The verifiers by name. A new verifier is one file, its maker in all.h, and one line here.
#include <array>

#include "speculative/registry.h"
#include "speculative/verifier.h"
#include "speculative/verifiers/all.h"

namespace minitorch::spec {
namespace {

constexpr std::array kVerifiers = {
    VerifierInfo{"greedy", "follows the target's argmax; for temperature 0", make_greedy_verifier},
    VerifierInfo{"coupled", "draws as plain sampling with the same seed draws: the same text", make_coupled_verifier},
    VerifierInfo{"rejection", "accepts by the ratio of probabilities: the same distribution", make_rejection_verifier},
};

}  // namespace

std::span<const VerifierInfo> verifiers() { return kVerifiers; }

const VerifierInfo& find_verifier(std::string_view name) { return find_named("verifier", verifiers(), name); }

const VerifierInfo& default_verifier(const SamplingOptions& sampling) {
  return find_verifier(sampling.temperature == 0.0 ? "greedy" : "coupled");
}

}  // namespace minitorch::spec
