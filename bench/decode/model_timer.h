// Timing passes of a loaded model behind a given context.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "bench/common/times.h"
#include "models/causal_lm.h"

namespace minitorch::bench {

// Contexts are filled with random ids once and kept, so that going back to one costs nothing. Every row of a timed
// decode or verify pass wants its argmax, of a prefill the last one alone.
class ModelTimer {
 public:
  // Rows or steps that may stand behind a context.
  static constexpr std::int64_t kMostRows = 256;

  explicit ModelTimer(models::CausalLM& model) : model_(model) {}

  // Steps of one row that build on each other, the first behind `context` tokens.
  std::vector<Times> decode(std::int64_t context, std::int64_t steps);
  // Passes of `rows` rows (a chain), each behind `context` tokens.
  std::vector<Times> verify(std::int64_t context, std::int64_t rows, std::int64_t repeats);
  // Passes of `rows` rows into an empty cache.
  std::vector<Times> prefill(std::int64_t rows, std::int64_t repeats);

  [[nodiscard]] std::int64_t cache_bytes() const;

 private:
  models::KVCache& filled(std::int64_t context, std::int64_t more);
  Times pass(models::KVCache& cache, std::int64_t rows, std::int64_t num_wanted);

  models::CausalLM& model_;
  models::Outputs outputs_;
  std::map<std::int64_t, models::KVCache> caches_;  // by context
};

}  // namespace minitorch::bench
