// DecoderSpec: an architecture as data. Qwen2 and Llama are the same decoder with other switches and tensor names.
#pragma once

#include <span>
#include <string_view>

#include "models/config.h"

namespace minitorch::models {

// Names of one layer's tensors are `layer_prefix` + "{layer}." + the part; all weights end in ".weight", biases in
// ".bias".
struct TensorNames {
  std::string_view embedding = "model.embed_tokens";
  std::string_view layer_prefix = "model.layers.";
  std::string_view attention_norm = "input_layernorm";
  std::string_view q = "self_attn.q_proj";
  std::string_view k = "self_attn.k_proj";
  std::string_view v = "self_attn.v_proj";
  std::string_view o = "self_attn.o_proj";
  std::string_view mlp_norm = "post_attention_layernorm";
  std::string_view gate = "mlp.gate_proj";
  std::string_view up = "mlp.up_proj";
  std::string_view down = "mlp.down_proj";
  std::string_view final_norm = "model.norm";
  std::string_view head = "lm_head";
};

// Everything that tells one architecture from another.
struct DecoderSpec {
  std::string_view architecture;        // as in config.json's "architectures"
  std::string_view model_type;          // as in config.json's "model_type"
  bool qkv_bias_default = false;        // where config.json has no "attention_bias"
  bool honours_attention_bias = false;  // reads "attention_bias" (q, k, v and o) and "mlp_bias"
  bool honours_sliding_window = false;  // reads "use_sliding_window"; an active window is refused
  TensorNames names;
};

// All architectures; the array in specs/registry.cpp.
[[nodiscard]] std::span<const DecoderSpec> decoder_specs();

// Throws Error that lists the known ones.
[[nodiscard]] const DecoderSpec& find_decoder_spec(std::string_view architecture);

}  // namespace minitorch::models
