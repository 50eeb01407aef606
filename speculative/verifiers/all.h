// The makers of all verifiers; the registry lists them.
#pragma once

#include <memory>

#include "speculative/verifier.h"

namespace minitorch::spec {

[[nodiscard]] std::unique_ptr<Verifier> make_coupled_verifier();
[[nodiscard]] std::unique_ptr<Verifier> make_greedy_verifier();
[[nodiscard]] std::unique_ptr<Verifier> make_rejection_verifier();

}  // namespace minitorch::spec
