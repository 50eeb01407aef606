// How far packed weights are from those of the checkpoint.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "minitorch/core/execution_scope.h"
#include "models/checkpoint.h"
#include "models/weight_plan.h"

namespace minitorch::quantize {

// Of one tensor of the checkpoint, w, and what its rows of a packed matrix hold, q.
struct WeightError {
  std::string name;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  double squared_error = 0.0;    // sum (w - q)^2
  double squared_weights = 0.0;  // sum w^2
  double largest = 0.0;          // max |w - q|

  [[nodiscard]] double relative_rms() const;
};

// One for each part of the matrix, summed in f64 in an order that does not depend on the threads.
[[nodiscard]] std::vector<WeightError> measure_errors(const models::Checkpoint& source, const models::MatrixPlan& plan,
                                                      const PackedMatrix& matrix, const Runtime& runtime);

}  // namespace minitorch::quantize
