// Reading config.json (old and new form) and generation_config.json of a Hugging Face model folder.
#include "models/config.h"

#include <algorithm>
#include <string_view>

#include <nlohmann/json.hpp>

#include "minitorch/base/check.h"
#include "minitorch/io/file.h"
#include "minitorch/io/json.h"
#include "models/decoder_spec.h"
#include "models/json_fields.h"
#include "models/model_folder.h"

namespace minitorch::models {
namespace {

namespace fs = std::filesystem;

// Bounds far above any real model; they keep products of two of them within int64_t.
constexpr std::int64_t kMaxIds = INT32_MAX;
constexpr std::int64_t kMaxWidth = std::int64_t{1} << 24;
constexpr std::int64_t kMaxHeads = std::int64_t{1} << 16;
constexpr std::int64_t kMaxHeadDim = std::int64_t{1} << 13;
constexpr std::int64_t kMaxLayers = 4096;
constexpr std::int64_t kMaxPositions = std::int64_t{1} << 30;
constexpr double kHuge = 1e15;

// What transformers assumes where a config has no such field.
constexpr double kDefaultRopeTheta = 10000.0;
constexpr std::int64_t kDefaultMaxWindowLayers = 28;

std::string known_names(std::string_view DecoderSpec::*name) {
  std::string known;
  for (const DecoderSpec& spec : decoder_specs()) {
    known += known.empty() ? "\"" : ", \"";
    known += spec.*name;
    known += '"';
  }
  return "one of " + known;
}

const DecoderSpec* spec_named(std::string_view DecoderSpec::*field, std::string_view name) {
  for (const DecoderSpec& spec : decoder_specs()) {
    if (spec.*field == name) return &spec;
  }
  return nullptr;
}

// The architecture by "architectures", or by "model_type" where that list is missing; both must agree when both are
// there.
const DecoderSpec& read_spec(const JsonFields& config) {
  const std::optional<std::string> type = config.text("model_type");
  const nlohmann::json* list = config.find("architectures");
  if (list == nullptr) {
    const DecoderSpec* spec = type ? spec_named(&DecoderSpec::model_type, *type) : nullptr;
    if (spec == nullptr) config.refuse(type ? "model_type" : "architectures", known_names(&DecoderSpec::architecture));
    return *spec;
  }
  const std::string expected = "a list with " + known_names(&DecoderSpec::architecture);
  if (!list->is_array() || list->size() != 1 || !list->front().is_string()) config.refuse("architectures", expected);
  const DecoderSpec* spec = spec_named(&DecoderSpec::architecture, list->front().get<std::string>());
  if (spec == nullptr) config.refuse("architectures", expected);
  if (type && *type != spec->model_type) {
    config.refuse("model_type", fmt::format("\"{}\" beside {}", spec->model_type, spec->architecture));
  }
  return *spec;
}

void read_sizes(const JsonFields& config, ModelConfig& out) {
  out.vocab_size = config.required_integer("vocab_size", 1, kMaxIds);
  out.hidden_size = config.required_integer("hidden_size", 1, kMaxWidth);
  out.intermediate_size = config.required_integer("intermediate_size", 1, kMaxWidth);
  out.num_layers = config.required_integer("num_hidden_layers", 1, kMaxLayers);
  out.num_heads = config.required_integer("num_attention_heads", 1, kMaxHeads);
  out.num_kv_heads = config.integer("num_key_value_heads", 1, kMaxHeads).value_or(out.num_heads);
  out.max_position_embeddings = config.required_integer("max_position_embeddings", 1, kMaxPositions);
  if (out.num_heads % out.num_kv_heads != 0) {
    config.refuse("num_key_value_heads", fmt::format("a divisor of the {} attention heads", out.num_heads));
  }
  if (const auto head_dim = config.integer("head_dim", 1, kMaxHeadDim)) {
    out.head_dim = *head_dim;
  } else {
    if (out.hidden_size % out.num_heads != 0) {
      config.refuse("head_dim", fmt::format("a number, because hidden_size {} is no multiple of num_attention_heads {}",
                                            out.hidden_size, out.num_heads));
    }
    out.head_dim = out.hidden_size / out.num_heads;
  }
  if (out.head_dim % 2 != 0 || out.head_dim > kMaxHeadDim) {
    config.refuse("head_dim", fmt::format("an even number up to {} (the head width is {})", kMaxHeadDim, out.head_dim));
  }
}

// An active window would need its own attention; one that is switched off changes nothing.
void refuse_active_sliding_window(const JsonFields& config, std::int64_t num_layers) {
  const bool used = config.boolean("use_sliding_window").value_or(false);
  const nlohmann::json* types = config.find("layer_types");
  if (types != nullptr && !types->is_array()) config.refuse("layer_types", "a list");
  if (!used) return;
  bool active = true;
  if (types != nullptr) {
    active = std::any_of(types->begin(), types->end(), [](const auto& type) { return type != "full_attention"; });
  } else {
    active = config.integer("max_window_layers", 0, kMaxIds).value_or(kDefaultMaxWindowLayers) < num_layers;
  }
  if (active) config.refuse("use_sliding_window", "false (attention within a window is not supported)");
}

void read_llama3_scaling(const JsonFields& rope, ModelConfig& out) {
  const auto required = [&](const char* field, double min) {
    const std::optional<double> value = rope.number(field, min, kHuge);
    if (!value) rope.refuse(field, fmt::format("a number from {} to {}", min, kHuge));
    return *value;
  };
  Llama3RopeScaling scaling;
  scaling.factor = required("factor", 1.0);
  scaling.low_freq_factor = required("low_freq_factor", 1e-6);
  scaling.high_freq_factor = required("high_freq_factor", 1e-6);
  scaling.original_max_position_embeddings =
      rope.number("original_max_position_embeddings", 1.0, kHuge).value_or(double(out.max_position_embeddings));
  if (scaling.high_freq_factor <= scaling.low_freq_factor) {
    rope.refuse("high_freq_factor", fmt::format("more than low_freq_factor {}", scaling.low_freq_factor));
  }
  out.rope_scaling = scaling;
}

// Old form: rope_theta beside rope_scaling {rope_type or type, ...}. New form: all of it in rope_parameters.
void read_rope(const JsonFields& config, ModelConfig& out) {
  constexpr double kMinTheta = 1e-3;
  out.rope_theta = config.number("rope_theta", kMinTheta, kHuge).value_or(kDefaultRopeTheta);
  const bool new_form = config.given("rope_parameters");
  const std::optional<JsonFields> rope = config.object(new_form ? "rope_parameters" : "rope_scaling");
  if (!rope) return;
  if (new_form) out.rope_theta = rope->number("rope_theta", kMinTheta, kHuge).value_or(out.rope_theta);
  const std::string_view field = rope->given("rope_type") ? "rope_type" : "type";
  const std::string type = rope->text(field).value_or("default");
  if (rope->number("partial_rotary_factor", 0.0, 1.0).value_or(1.0) != 1.0) rope->refuse("partial_rotary_factor", "1");
  if (type == "llama3") {
    read_llama3_scaling(*rope, out);
  } else if (type != "default") {
    rope->refuse(field, "\"default\" or \"llama3\"");
  }
}

void read_switches(const JsonFields& config, const DecoderSpec& spec, ModelConfig& out) {
  out.tie_word_embeddings = config.boolean("tie_word_embeddings").value_or(false);
  out.qkv_bias = spec.qkv_bias_default;
  if (spec.honours_attention_bias) {
    out.qkv_bias = config.boolean("attention_bias").value_or(spec.qkv_bias_default);
    out.output_bias = config.boolean("attention_bias").value_or(false);
    out.mlp_bias = config.boolean("mlp_bias").value_or(false);
  }
  const std::string activation = config.text("hidden_act").value_or("silu");
  if (activation != "silu" && activation != "swish") config.refuse("hidden_act", "\"silu\"");
  if (config.given("quantization_config")) config.refuse("quantization_config", "nothing (unquantised weights)");
  if (spec.honours_sliding_window) refuse_active_sliding_window(config, out.num_layers);
}

DType read_dtype(const JsonFields& config) {
  const char* field = config.given("dtype") ? "dtype" : "torch_dtype";
  const std::string name = config.text(field).value_or("float32");
  if (name == "float32") return DType::kF32;
  if (name == "bfloat16") return DType::kBF16;
  if (name == "float16") return DType::kF16;
  config.refuse(field, "\"float32\", \"bfloat16\" or \"float16\"");
}

// eos_token_id as a number or a list of numbers, added to `ids`.
void add_eos_ids(const JsonFields& fields, std::int64_t vocab_size, std::vector<std::int32_t>& ids) {
  constexpr const char* kField = "eos_token_id";
  const nlohmann::json* value = fields.find(kField);
  if (value == nullptr) return;
  const std::string expected = fmt::format("an integer from 0 to {}, or a list of such", vocab_size - 1);
  const nlohmann::json list = value->is_array() ? *value : nlohmann::json::array({*value});
  for (const nlohmann::json& id : list) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= static_cast<std::uint64_t>(vocab_size)) {
      fields.refuse(kField, expected);
    }
    ids.push_back(id.get<std::int32_t>());
  }
}

// Special ids. Models are published with a corrected begin id in generation_config.json, so that one wins; end ids are
// joined.
void read_special_ids(const JsonFields& fields, ModelConfig& out) {
  if (const auto bos = fields.integer("bos_token_id", 0, out.vocab_size - 1)) {
    out.bos_token_id = static_cast<std::int32_t>(*bos);
  }
  add_eos_ids(fields, out.vocab_size, out.eos_token_ids);
}

// Settings of sampling. "do_sample": false means greedy decoding, true without a temperature the model's probabilities
// as they are. (Libraries that add a top_k of 50 of their own where none is given are not followed.)
GenerationDefaults read_generation_defaults(const JsonFields& fields) {
  constexpr double kMaxTemperature = 1e6;
  GenerationDefaults out;
  const std::optional<bool> do_sample = fields.boolean("do_sample");
  const std::optional<double> temperature = fields.number("temperature", 0.0, kMaxTemperature);
  if (do_sample.value_or(temperature.has_value())) out.temperature = temperature.value_or(1.0) + 0.0;  // not -0
  // Some files write "off" as -1.
  out.top_k = static_cast<std::int32_t>(std::max<std::int64_t>(fields.integer("top_k", -1, kMaxIds).value_or(0), 0));
  out.top_p = fields.number("top_p", 0.0, 1.0).value_or(1.0);
  out.min_p = fields.number("min_p", 0.0, 1.0).value_or(0.0);
  return out;
}

}  // namespace

ModelConfig read_model_config(const fs::path& directory) {
  check_model_folder(directory, {"config.json"});
  const fs::path path = directory / "config.json";
  const nlohmann::json json = io::read_json(path);
  const JsonFields config(json, path.string());
  const DecoderSpec& spec = read_spec(config);

  ModelConfig out;
  out.architecture = spec.architecture;
  read_sizes(config, out);
  out.rms_norm_eps = static_cast<float>(config.number("rms_norm_eps", 0.0, 1.0).value_or(1e-6));
  read_rope(config, out);
  read_switches(config, spec, out);
  out.dtype = read_dtype(config);
  read_special_ids(config, out);

  const fs::path generation_path = directory / "generation_config.json";
  if (!io::is_absent(generation_path)) {
    const nlohmann::json generation_json = io::read_json(generation_path);
    const JsonFields generation(generation_json, generation_path.string());
    read_special_ids(generation, out);
    out.generation = read_generation_defaults(generation);
  }
  std::sort(out.eos_token_ids.begin(), out.eos_token_ids.end());
  out.eos_token_ids.erase(std::unique(out.eos_token_ids.begin(), out.eos_token_ids.end()), out.eos_token_ids.end());
  return out;
}

}  // namespace minitorch::models
