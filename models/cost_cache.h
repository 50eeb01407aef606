// The cost curve of a loaded model on this machine: measured once, then read from a file in the user's cache folder
// until weights, format, kernels, threads or processor change, or the file is deleted.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "minitorch/core/execution_scope.h"
#include "models/causal_lm.h"
#include "models/cost_curve.h"

namespace minitorch::models {

// $MINITORCH_CACHE, else $XDG_CACHE_HOME/minitorch, else $HOME/.cache/minitorch; nothing when none is set, or
// MINITORCH_CACHE is empty: then nothing is kept.
[[nodiscard]] std::optional<std::filesystem::path> cache_folder();

// What a curve depends on: folder, size and time of weights and config, their format, kernels, threads, processor.
[[nodiscard]] std::string cost_key(const CausalLM& model, const std::filesystem::path& folder, const Runtime& runtime);

// The curve kept under `key` in `cache`; nothing when there is none or the file is not what store_cost_curve wrote.
[[nodiscard]] std::optional<CostCurve> find_cost_curve(const std::filesystem::path& cache, const std::string& key);
// Keeps it. A folder that cannot be written is no error: the curve will be measured again.
void store_cost_curve(const std::filesystem::path& cache, const std::string& key, const CostCurve& curve);

// The kept curve, or one measured now (measure_cost_curve with `budget_s`) and kept. `model` is one of load_causal_lm
// from `folder`.
[[nodiscard]] CostCurve cost_curve_of(CausalLM& model, const std::filesystem::path& folder, const Runtime& runtime,
                                      double budget_s = 1.0);

}  // namespace minitorch::models
