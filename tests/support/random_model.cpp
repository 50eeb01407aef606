// Random-weight checkpoints for tests.
#include "tests/support/random_model.h"

#include <cmath>
#include <map>

#include <nlohmann/json.hpp>

#include "minitorch/base/philox.h"
#include "minitorch/io/safetensors.h"
#include "tests/support/data.h"

namespace minitorch::test {
namespace {

// Uniform values of the given standard deviation around `mean`.
Tensor random_tensor(PhiloxStream& stream, const Shape& shape, float deviation, float mean = 0.0f) {
  const Tensor tensor = Tensor::empty(shape);
  auto* values = tensor.data<float>();
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    values[i] = mean + (stream.uniform() * 2.0f - 1.0f) * deviation * std::sqrt(3.0f);
  }
  return tensor;
}

std::map<std::string, Tensor> random_weights(const RandomModelShape& s, std::uint64_t seed) {
  PhiloxStream stream(seed);
  std::map<std::string, Tensor> weights;
  const auto matrix = [&](const std::string& name, std::int64_t rows, std::int64_t cols) {
    // Larger than 1/sqrt(cols): attention and gates must leave their linear range, or the test would be too easy.
    weights[name + ".weight"] = random_tensor(stream, {rows, cols}, 1.5f / std::sqrt(static_cast<float>(cols)));
  };
  const auto bias = [&](const std::string& name, std::int64_t size) {
    weights[name + ".bias"] = random_tensor(stream, {size}, 0.3f);
  };
  const auto norm = [&](const std::string& name) {
    weights[name + ".weight"] = random_tensor(stream, {s.hidden_size}, 0.2f, 1.0f);
  };
  weights["model.embed_tokens.weight"] = random_tensor(stream, {s.vocab_size, s.hidden_size}, 1.0f);
  for (std::int64_t layer = 0; layer < s.num_layers; ++layer) {
    const std::string prefix = "model.layers." + std::to_string(layer) + ".";
    norm(prefix + "input_layernorm");
    norm(prefix + "post_attention_layernorm");
    matrix(prefix + "self_attn.q_proj", s.num_heads * s.head_dim, s.hidden_size);
    matrix(prefix + "self_attn.k_proj", s.num_kv_heads * s.head_dim, s.hidden_size);
    matrix(prefix + "self_attn.v_proj", s.num_kv_heads * s.head_dim, s.hidden_size);
    matrix(prefix + "self_attn.o_proj", s.hidden_size, s.num_heads * s.head_dim);
    if (s.architecture == "Qwen2ForCausalLM") {
      bias(prefix + "self_attn.q_proj", s.num_heads * s.head_dim);
      bias(prefix + "self_attn.k_proj", s.num_kv_heads * s.head_dim);
      bias(prefix + "self_attn.v_proj", s.num_kv_heads * s.head_dim);
    }
    matrix(prefix + "mlp.gate_proj", s.intermediate_size, s.hidden_size);
    matrix(prefix + "mlp.up_proj", s.intermediate_size, s.hidden_size);
    matrix(prefix + "mlp.down_proj", s.hidden_size, s.intermediate_size);
  }
  norm("model.norm");
  if (!s.tie_word_embeddings) matrix("lm_head", s.vocab_size, s.hidden_size);
  return weights;
}

}  // namespace

void write_random_checkpoint(const std::filesystem::path& folder, const RandomModelShape& s, std::uint64_t seed) {
  const nlohmann::json config{
      {"architectures", {s.architecture}},
      {"model_type", s.architecture == "Qwen2ForCausalLM" ? "qwen2" : "llama"},
      {"vocab_size", s.vocab_size},
      {"hidden_size", s.hidden_size},
      {"intermediate_size", s.intermediate_size},
      {"num_hidden_layers", s.num_layers},
      {"num_attention_heads", s.num_heads},
      {"num_key_value_heads", s.num_kv_heads},
      {"head_dim", s.head_dim},
      {"hidden_act", "silu"},
      {"max_position_embeddings", s.max_position_embeddings},
      {"rms_norm_eps", 1e-6},
      {"rope_theta", 10000.0},
      {"tie_word_embeddings", s.tie_word_embeddings},
      {"torch_dtype", "float32"},
  };
  write_file(folder / "config.json", config.dump(1));
  io::write_safetensors(folder / "model.safetensors", random_weights(s, seed));
}

std::unique_ptr<models::CausalLM> make_random_model(const RandomModelShape& shape, std::uint64_t seed,
                                                    const Runtime& runtime, const models::LoadOptions& options) {
  const TemporaryFolder folder;
  write_random_checkpoint(folder.path(), shape, seed);
  return models::load_causal_lm(folder.path(), runtime, options);
}

}  // namespace minitorch::test
