// What a model folder holds, read from its config and the headers of its weight files alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "minitorch/core/shape.h"
#include "models/config.h"
#include "models/weights.h"

namespace minitorch::inspect_model {

struct TensorInfo {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
  std::string file;
};

struct Summary {
  std::filesystem::path folder;
  models::ModelConfig config;
  std::vector<TensorInfo> tensors;
  std::map<std::string, std::int64_t> tensors_by_dtype;
  std::int64_t num_files = 0;
  std::int64_t stored_bytes = 0;
  models::WeightSummary held;
  DType cache_dtype = DType::kF32;
  std::int64_t cache_bytes_per_token = 0;
};

// Throws what loading would throw about a missing, superfluous or misshapen tensor.
[[nodiscard]] Summary summarize(const std::filesystem::path& folder, models::WeightDType dtype);

void print(const Summary& summary, bool list_tensors);
[[nodiscard]] nlohmann::ordered_json to_json(const Summary& summary);

}  // namespace minitorch::inspect_model
