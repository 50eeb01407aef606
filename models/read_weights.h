// Reading tensors of a checkpoint into the places that a plan gives them, on all threads.
#pragma once

#include <span>

#include "minitorch/base/thread_pool.h"
#include "models/checkpoint.h"
#include "models/weight_plan.h"

namespace minitorch::models {

// Packs the rows of all matrices into the panels of their targets, whose memory is zeroed. 2 MiB per thread are read at
// a time.
void read_matrices(const Checkpoint& checkpoint, std::span<const MatrixPlan> matrices, ThreadPool& threads);

// The whole vector as f32.
[[nodiscard]] Tensor read_vector(const Checkpoint& checkpoint, const VectorPlan& vector);

}  // namespace minitorch::models
