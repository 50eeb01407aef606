// The shapes of the pair.
#include "examples/train_tiny_r1/tiny_configs.h"

#include "minitorch/base/check.h"

namespace minitorch::train_tiny_r1 {
namespace {

models::ModelConfig shared_config(const models::Tokenizer& tokenizer) {
  MT_CHECK(tokenizer.bos_id().has_value() && tokenizer.eos_id().has_value(),
           "tiny_r1: expected a tokenizer with begin and end token");
  models::ModelConfig config;
  config.architecture = "Qwen2ForCausalLM";
  config.vocab_size = tokenizer.size();
  config.max_position_embeddings = 1024;
  config.rms_norm_eps = 1e-6f;
  config.rope_theta = 10000.0;
  config.tie_word_embeddings = true;
  config.qkv_bias = true;
  config.dtype = DType::kBF16;
  config.bos_token_id = tokenizer.bos_id();
  config.eos_token_ids = {*tokenizer.eos_id()};
  return config;
}

}  // namespace

models::ModelConfig target_config(const models::Tokenizer& tokenizer) {
  models::ModelConfig config = shared_config(tokenizer);
  config.hidden_size = 256;
  config.num_layers = 5;
  config.num_heads = 4;
  config.num_kv_heads = 2;
  config.head_dim = 64;
  config.intermediate_size = 704;
  return config;
}

models::ModelConfig draft_config(const models::Tokenizer& tokenizer) {
  models::ModelConfig config = shared_config(tokenizer);
  config.hidden_size = 96;
  config.num_layers = 2;
  config.num_heads = 2;
  config.num_kv_heads = 1;
  config.head_dim = 48;
  config.intermediate_size = 256;
  return config;
}

}  // namespace minitorch::train_tiny_r1
