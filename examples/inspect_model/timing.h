// How long a model takes: loading, passes over several rows compared with one, prefill compared with single steps.
#pragma once

#include <cstdint>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/causal_lm.h"

namespace minitorch::inspect_model {

struct PassTime {
  int rows = 0;
  double median_ms = 0.0;
  double min_ms = 0.0;
};

struct Timing {
  double load_s = 0.0;
  std::vector<PassTime> passes;  // behind a context of `context` tokens; the first has one row
  int context = 0;
  int prefill_rows = 0;
  double prefill_ms = 0.0;  // of an empty cache
  std::int64_t cache_bytes = 0;
  std::int64_t peak_bytes = 0;  // largest resident size of this process so far
};

// `load_s` is measured by the caller.
[[nodiscard]] Timing measure(models::CausalLM& model, double load_s);

void print(const Timing& timing);
[[nodiscard]] nlohmann::ordered_json to_json(const Timing& timing);

}  // namespace minitorch::inspect_model
