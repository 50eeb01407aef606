// Gathering and showing what a model folder holds.
#include "examples/inspect_model/summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "kernels/ops/kv_cache.h"
#include "models/checkpoint.h"

namespace minitorch::inspect_model {
namespace {

// 1234567 -> "1,234,567".
std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, 1, ',');
  return text;
}

std::string megabytes(std::int64_t bytes) { return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6); }

std::vector<std::int64_t> extents(const Shape& shape) { return {shape.begin(), shape.end()}; }

std::string rope_text(const models::ModelConfig& config) {
  std::string text = fmt::format("theta {:g}", config.rope_theta);
  if (const auto& scaling = config.rope_scaling) {
    text += fmt::format(", llama3 scaling: factor {:g}, low {:g}, high {:g}, original context {:g}", scaling->factor,
                        scaling->low_freq_factor, scaling->high_freq_factor, scaling->original_max_position_embeddings);
  }
  return text;
}

std::string bias_text(const models::ModelConfig& config) {
  std::vector<std::string> with;
  if (config.qkv_bias) with.emplace_back("q, k, v");
  if (config.output_bias) with.emplace_back("attention output");
  if (config.mlp_bias) with.emplace_back("feed-forward");
  return with.empty() ? "none" : fmt::format("{}", fmt::join(with, ", "));
}

// How programs sample unless they are told otherwise.
std::string sampling_text(const models::GenerationDefaults& defaults) {
  if (defaults.temperature == 0.0) return "greedy";
  std::string text = fmt::format("temperature {}", defaults.temperature);
  if (defaults.top_k > 0) text += fmt::format(", top_k {}", defaults.top_k);
  if (defaults.top_p < 1.0) text += fmt::format(", top_p {}", defaults.top_p);
  if (defaults.min_p > 0.0) text += fmt::format(", min_p {}", defaults.min_p);
  return text;
}

nlohmann::ordered_json config_json(const models::ModelConfig& config) {
  nlohmann::ordered_json json{
      {"vocab_size", config.vocab_size},
      {"hidden_size", config.hidden_size},
      {"num_layers", config.num_layers},
      {"num_heads", config.num_heads},
      {"num_kv_heads", config.num_kv_heads},
      {"head_dim", config.head_dim},
      {"intermediate_size", config.intermediate_size},
      {"max_position_embeddings", config.max_position_embeddings},
      {"rms_norm_eps", std::stod(fmt::format("{}", config.rms_norm_eps))},  // 1e-05, not its float expansion
      {"rope_theta", config.rope_theta},
      {"rope_scaling", nullptr},
      {"tie_word_embeddings", config.tie_word_embeddings},
      {"qkv_bias", config.qkv_bias},
      {"output_bias", config.output_bias},
      {"mlp_bias", config.mlp_bias},
      {"dtype", name_of(config.dtype)},
      {"bos_token_id", nullptr},
      {"eos_token_ids", config.eos_token_ids},
      {"generation",
       {{"temperature", config.generation.temperature},
        {"top_k", config.generation.top_k},
        {"top_p", config.generation.top_p},
        {"min_p", config.generation.min_p}}}};
  if (const auto& scaling = config.rope_scaling) {
    json["rope_scaling"] = {{"rope_type", "llama3"},
                            {"factor", scaling->factor},
                            {"low_freq_factor", scaling->low_freq_factor},
                            {"high_freq_factor", scaling->high_freq_factor},
                            {"original_max_position_embeddings", scaling->original_max_position_embeddings}};
  }
  if (config.bos_token_id) json["bos_token_id"] = *config.bos_token_id;
  return json;
}

}  // namespace

Summary summarize(const std::filesystem::path& folder, models::WeightDType dtype) {
  Summary summary;
  summary.folder = folder;
  summary.config = models::read_model_config(folder);
  const models::Checkpoint checkpoint(folder);
  summary.num_files = static_cast<std::int64_t>(checkpoint.files().size());
  for (const auto& [name, file] : checkpoint.tensors()) {
    const io::SafetensorsEntry& entry = checkpoint.entry(name);
    summary.tensors.push_back({name, entry.dtype, entry.shape, checkpoint.files()[file].path().filename().string()});
    summary.stored_bytes += static_cast<std::int64_t>(entry.bytes);
    ++summary.tensors_by_dtype[std::string(name_of(entry.dtype))];
  }
  summary.held = models::summarize_weights(checkpoint, summary.config, dtype);
  summary.cache_dtype = models::default_cache_dtype(summary.held.format);
  const kernels::KvLayout layout{summary.cache_dtype, summary.config.num_kv_heads, summary.config.head_dim};
  summary.cache_bytes_per_token = summary.config.num_layers * kernels::kv_layer_bytes(layout) / kernels::kPageSlots;
  return summary;
}

void print(const Summary& summary, bool list_tensors) {
  const models::ModelConfig& config = summary.config;
  const auto line = [](std::string_view name, const std::string& value) { fmt::print("{:<14}{}\n", name, value); };
  line("folder", summary.folder.string());
  line("architecture", config.architecture);
  line("vocabulary", grouped(config.vocab_size));
  line("layers",
       fmt::format("{} of width {}, feed-forward {}", config.num_layers, config.hidden_size, config.intermediate_size));
  line("attention", fmt::format("{} heads, {} key/value heads, head width {}", config.num_heads, config.num_kv_heads,
                                config.head_dim));
  line("biases", bias_text(config));
  line("rope", rope_text(config));
  line("context", fmt::format("{} tokens", grouped(config.max_position_embeddings)));
  line("head", config.tie_word_embeddings ? "tied to the embedding" : "of its own");
  line("end tokens", config.eos_token_ids.empty() ? "none" : fmt::format("{}", fmt::join(config.eos_token_ids, ", ")));
  line("sampling", sampling_text(config.generation));
  std::vector<std::string> types;
  for (const auto& [dtype, count] : summary.tensors_by_dtype) types.push_back(fmt::format("{} {}", count, dtype));
  line("tensors", fmt::format("{} in {} {}: {}", summary.tensors.size(), summary.num_files,
                              summary.num_files == 1 ? "file" : "files", fmt::join(types, ", ")));
  line("parameters", grouped(summary.held.parameters));
  line("stored", megabytes(summary.stored_bytes));
  line("held", fmt::format("{} as {}", megabytes(summary.held.bytes), models::name_of(summary.held.format)));
  line("cache", fmt::format("{} bytes per token as {}, {} for the whole context",
                            grouped(summary.cache_bytes_per_token), name_of(summary.cache_dtype),
                            megabytes(summary.cache_bytes_per_token * config.max_position_embeddings)));
  if (!list_tensors) return;
  for (const TensorInfo& tensor : summary.tensors) {
    fmt::print("{} {} {}\n", tensor.name, name_of(tensor.dtype), to_string(tensor.shape));
  }
}

nlohmann::ordered_json to_json(const Summary& summary) {
  nlohmann::ordered_json tensors = nlohmann::ordered_json::array();
  for (const TensorInfo& tensor : summary.tensors) {
    tensors.push_back({{"name", tensor.name},
                       {"dtype", name_of(tensor.dtype)},
                       {"shape", extents(tensor.shape)},
                       {"file", tensor.file}});
  }
  return {{"folder", summary.folder.string()},
          {"architecture", summary.config.architecture},
          {"config", config_json(summary.config)},
          {"parameters", summary.held.parameters},
          {"stored_bytes", summary.stored_bytes},
          {"held_dtype", models::name_of(summary.held.format)},
          {"held_bytes", summary.held.bytes},
          {"cache_dtype", name_of(summary.cache_dtype)},
          {"cache_bytes_per_token", summary.cache_bytes_per_token},
          {"tensors_by_dtype", summary.tensors_by_dtype},
          {"tensors", std::move(tensors)}};
}

}  // namespace minitorch::inspect_model
