// Small random-weight checkpoints, written as Hugging Face folders, so that tests go through the loader that users go
// through.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "minitorch/core/execution_scope.h"
#include "models/causal_lm.h"
#include "models/load.h"

namespace minitorch::test {

// The defaults are deliberately odd: no size is a multiple of a vector, head_dim is not hidden_size / heads.
struct RandomModelShape {
  std::string architecture = "Qwen2ForCausalLM";  // or "LlamaForCausalLM"
  std::int64_t vocab_size = 97;
  std::int64_t hidden_size = 45;
  std::int64_t intermediate_size = 75;
  std::int64_t num_layers = 2;
  std::int64_t num_heads = 6;
  std::int64_t num_kv_heads = 2;
  std::int64_t head_dim = 10;
  std::int64_t max_position_embeddings = 512;
  bool tie_word_embeddings = false;
};

// Writes config.json and model.safetensors (f32) into `folder`; the same seed gives the same bytes.
void write_random_checkpoint(const std::filesystem::path& folder, const RandomModelShape& shape, std::uint64_t seed);

// Writes a checkpoint into a temporary folder and loads it.
[[nodiscard]] std::unique_ptr<models::CausalLM> make_random_model(const RandomModelShape& shape, std::uint64_t seed,
                                                                  const Runtime& runtime,
                                                                  const models::LoadOptions& options = {});

}  // namespace minitorch::test
