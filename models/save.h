// Writing a model as a Hugging Face folder that this and other programs load, and reading its tensors back.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "minitorch/core/tensor.h"
#include "models/config.h"

namespace minitorch::models {

// Writes config.json, generation_config.json (greedy, temperature 0) and model.safetensors into `directory`, which is
// made where it is missing; tokenizer files are left alone. Each file appears under its name only when complete.
void save_model(const std::filesystem::path& directory, const ModelConfig& config,
                const std::map<std::string, Tensor>& tensors);

// All tensors of a model folder's checkpoint by name, as stored; packed ones are refused.
[[nodiscard]] std::map<std::string, Tensor> read_checkpoint_tensors(const std::filesystem::path& directory);

}  // namespace minitorch::models
