// WeightPlan: which tensors of a checkpoint make up which weights of a decoder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/weights.h"

namespace minitorch::models {

// A tensor of the checkpoint: rows of a matrix [rows, cols] or elements of a vector [rows].
struct WeightPart {
  std::string name;
  std::int64_t rows = 0;
};

// A packed matrix whose rows come from the parts, one below the other.
struct MatrixPlan {
  PackedMatrix* target = nullptr;
  std::int64_t cols = 0;
  std::vector<WeightPart> parts;

  [[nodiscard]] std::int64_t rows() const;
};

// An f32 vector made of the parts, one behind the other.
struct VectorPlan {
  Tensor* target = nullptr;
  std::vector<WeightPart> parts;

  [[nodiscard]] std::int64_t size() const;
};

struct WeightPlan {
  std::vector<MatrixPlan> matrices;
  std::vector<VectorPlan> vectors;
};

// The plan for `weights`, whose layers are made here; it points into `weights`.
[[nodiscard]] WeightPlan make_weight_plan(const ModelConfig& config, DecoderWeights& weights);

// Throws IoError when a tensor of the plan is missing or has another shape or type, or when the checkpoint holds a
// tensor that is neither in the plan nor known to carry nothing.
void check_weight_plan(const WeightPlan& plan, const ModelConfig& config, const Checkpoint& checkpoint);

}  // namespace minitorch::models
