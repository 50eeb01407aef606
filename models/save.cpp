// The JSON files of a model folder, in the form that transformers writes.
#include "models/save.h"

#include <span>
#include <string_view>

#include <nlohmann/json.hpp>

#include "minitorch/base/check.h"
#include "minitorch/io/file.h"
#include "minitorch/io/safetensors.h"
#include "models/checkpoint.h"
#include "models/decoder_spec.h"

namespace minitorch::models {
namespace {

std::string_view torch_name(DType dtype) {
  switch (dtype) {
    case DType::kF32: return "float32";
    case DType::kBF16: return "bfloat16";
    case DType::kF16: return "float16";
    case DType::kF64:
    case DType::kI32:
    case DType::kI64:
    case DType::kU8:
    case DType::kBool: break;
  }
  fail<DTypeError>("save_model: expected dtype f32, bf16 or f16, got {}", name_of(dtype));
}

// One number where there is one end token, as most readers expect.
nlohmann::ordered_json end_tokens(const ModelConfig& config) {
  if (config.eos_token_ids.size() == 1) return config.eos_token_ids.front();
  return config.eos_token_ids;
}

void add_special_ids(nlohmann::ordered_json& json, const ModelConfig& config) {
  if (config.bos_token_id.has_value()) json["bos_token_id"] = *config.bos_token_id;
  if (!config.eos_token_ids.empty()) json["eos_token_id"] = end_tokens(config);
}

// Through the shortest decimal text of the f32, so that 1e-6f is written as 1e-06 and not with the digits of a double.
double shortest(float value) { return std::stod(fmt::format("{}", value)); }

nlohmann::ordered_json config_json(const ModelConfig& config) {
  MT_CHECK(!config.rope_scaling.has_value(), "save_model: expected a config without rope scaling");
  nlohmann::ordered_json json;
  json["architectures"] = {config.architecture};
  json["model_type"] = std::string(find_decoder_spec(config.architecture).model_type);
  json["vocab_size"] = config.vocab_size;
  json["hidden_size"] = config.hidden_size;
  json["intermediate_size"] = config.intermediate_size;
  json["num_hidden_layers"] = config.num_layers;
  json["num_attention_heads"] = config.num_heads;
  json["num_key_value_heads"] = config.num_kv_heads;
  json["head_dim"] = config.head_dim;
  json["hidden_act"] = "silu";
  json["max_position_embeddings"] = config.max_position_embeddings;
  json["rms_norm_eps"] = shortest(config.rms_norm_eps);
  json["rope_theta"] = config.rope_theta;
  json["tie_word_embeddings"] = config.tie_word_embeddings;
  json["use_sliding_window"] = false;
  json["attention_dropout"] = 0.0;
  json["torch_dtype"] = std::string(torch_name(config.dtype));
  add_special_ids(json, config);
  return json;
}

nlohmann::ordered_json generation_config_json(const ModelConfig& config) {
  nlohmann::ordered_json json;
  add_special_ids(json, config);
  json["do_sample"] = false;
  json["temperature"] = 0.0;
  return json;
}

void write_json(const std::filesystem::path& path, const nlohmann::ordered_json& json) {
  const std::string text = json.dump(2) + "\n";
  io::OutputFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

}  // namespace

void save_model(const std::filesystem::path& directory, const ModelConfig& config,
                const std::map<std::string, Tensor>& tensors) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  MT_CHECK_AS(IoError, !error, "{}: cannot make this folder: {}", directory.string(), error.message());
  io::write_safetensors(directory / "model.safetensors", tensors, {{"format", "pt"}});
  write_json(directory / "generation_config.json", generation_config_json(config));
  write_json(directory / "config.json", config_json(config));
}

std::map<std::string, Tensor> read_checkpoint_tensors(const std::filesystem::path& directory) {
  const Checkpoint checkpoint(directory);
  MT_CHECK_AS(IoError, !checkpoint.is_packed(), "{}: expected weights that are not packed, got packed ones",
              checkpoint.path().string());
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, file] : checkpoint.tensors()) tensors[name] = checkpoint.files()[file].read(name);
  return tensors;
}

}  // namespace minitorch::models
