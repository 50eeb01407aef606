// ModelConfig: what a decoder looks like, read from config.json and generation_config.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "minitorch/base/dtype.h"

namespace minitorch::models {

// "llama3" scaling of rotary frequencies (Llama 3.1): long wavelengths are divided by `factor`, those between the two
// bounds blended.
struct Llama3RopeScaling {
  double factor = 8.0;
  double low_freq_factor = 1.0;
  double high_freq_factor = 4.0;
  double original_max_position_embeddings = 8192.0;
};

// How the model's makers sample from it: generation_config.json. Defaults for programs; the decoder knows nothing of
// it.
struct GenerationDefaults {
  double temperature = 0.0;  // 0: greedy
  std::int32_t top_k = 0;    // 0: all
  double top_p = 1.0;
  double min_p = 0.0;
};

struct ModelConfig {
  std::string architecture;  // "Qwen2ForCausalLM", "LlamaForCausalLM"
  std::int64_t vocab_size = 0;
  std::int64_t hidden_size = 0;        // C
  std::int64_t num_layers = 0;         // L
  std::int64_t num_heads = 0;          // H
  std::int64_t num_kv_heads = 0;       // K
  std::int64_t head_dim = 0;           // D, as given or hidden_size / num_heads
  std::int64_t intermediate_size = 0;  // F
  std::int64_t max_position_embeddings = 0;
  float rms_norm_eps = 1e-6f;
  double rope_theta = 10000.0;
  std::optional<Llama3RopeScaling> rope_scaling;
  bool tie_word_embeddings = false;
  bool qkv_bias = false;
  bool output_bias = false;  // attention output projection
  bool mlp_bias = false;
  DType dtype = DType::kF32;  // as stored, by torch_dtype / dtype
  std::optional<std::int32_t> bos_token_id;
  std::vector<std::int32_t> eos_token_ids;  // union of config.json and generation_config.json, ascending
  GenerationDefaults generation;
};

// Reads config.json in its old form (rope_theta, rope_scaling, torch_dtype) or new form (rope_parameters, dtype), and
// generation_config.json where present. Throws IoError that names the file, the field and what was expected; refuses
// unknown architectures, active sliding windows and rope kinds whose frequencies depend on the length.
[[nodiscard]] ModelConfig read_model_config(const std::filesystem::path& directory);

}  // namespace minitorch::models
