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

[[nodiscard]] std::int64_t total_rows(const std::vector<WeightPart>& parts);

// A matrix whose rows come from the parts, one below the other.
template <typename Matrix>
struct MatrixPlanOf {
  Matrix* target = nullptr;
  std::string name;  // of the whole; the part's own where there is one
  std::int64_t cols = 0;
  std::vector<WeightPart> parts;

  [[nodiscard]] std::int64_t rows() const { return total_rows(parts); }
};

// An f32 vector made of the parts, one behind the other.
struct VectorPlan {
  Tensor* target = nullptr;
  std::string name;
  std::vector<WeightPart> parts;

  [[nodiscard]] std::int64_t size() const { return total_rows(parts); }
};

template <typename Matrix>
struct WeightPlanOf {
  std::vector<MatrixPlanOf<Matrix>> matrices;
  std::vector<VectorPlan> vectors;
};

using MatrixPlan = MatrixPlanOf<PackedMatrix>;
using WeightPlan = WeightPlanOf<PackedMatrix>;

// The plan for `weights`, whose layers are made here; it points into `weights`. Matrix: PackedMatrix or Tensor.
template <typename Matrix>
[[nodiscard]] WeightPlanOf<Matrix> make_weight_plan(const ModelConfig& config, DecoderWeightsOf<Matrix>& weights);

// Throws IoError when a tensor of the plan is missing or has another shape or type, or when the checkpoint holds a
// tensor that is neither in the plan nor known to carry nothing.
void check_weight_plan(const WeightPlan& plan, const ModelConfig& config, const Checkpoint& checkpoint);

}  // namespace minitorch::models
