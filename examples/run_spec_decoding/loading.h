// The models of a run: a target and, for drafter "model", its draft model.
#pragma once

#include <optional>

#include "examples/run_spec_decoding/options.h"
#include "models/load.h"

namespace minitorch::run_spec_decoding {

struct ModelPair {
  models::LoadedModel target;
  std::optional<models::LoadedModel> draft;
};

// Loads what the options name, all in the same type and on the same threads. Throws Error that names the folder, also
// where target and draft have different tokens for one id: what the draft says would mean something else to the target.
// Ids that only one of them has are fine; neither reads the other's.
[[nodiscard]] ModelPair load_models(const Options& options, const Runtime& runtime);

}  // namespace minitorch::run_spec_decoding
