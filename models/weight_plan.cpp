// WeightPlan: the tensor names of an architecture, and the check of a checkpoint against them.
#include "models/weight_plan.h"

#include <set>
#include <string_view>

#include "minitorch/base/check.h"

namespace minitorch::models {
namespace {

std::string weight_of(std::string_view prefix, std::string_view part) {
  return fmt::format("{}{}.weight", prefix, part);
}
std::string bias_of(std::string_view prefix, std::string_view part) { return fmt::format("{}{}.bias", prefix, part); }

// Adds a matrix whose row groups are the projections `parts`, and where `with_bias` their biases.
void add_projection(WeightPlan& plan, std::string_view prefix, PackedMatrix& matrix, Tensor& bias, bool with_bias,
                    std::int64_t cols, const std::vector<std::pair<std::string_view, std::int64_t>>& parts) {
  MatrixPlan matrix_plan{.target = &matrix, .cols = cols, .parts = {}};
  VectorPlan bias_plan{.target = &bias, .parts = {}};
  for (const auto& [name, rows] : parts) {
    matrix_plan.parts.push_back({weight_of(prefix, name), rows});
    bias_plan.parts.push_back({bias_of(prefix, name), rows});
  }
  plan.matrices.push_back(std::move(matrix_plan));
  if (with_bias) plan.vectors.push_back(std::move(bias_plan));
}

void add_layer(WeightPlan& plan, const ModelConfig& config, const TensorNames& names, std::int64_t index,
               LayerWeights& layer) {
  const std::string prefix = fmt::format("{}{}.", names.layer_prefix, index);
  const std::int64_t hidden = config.hidden_size;
  const std::int64_t query_rows = config.num_heads * config.head_dim;
  const std::int64_t kv_rows = config.num_kv_heads * config.head_dim;
  const std::int64_t ffn = config.intermediate_size;
  plan.vectors.push_back({&layer.attention_norm, {{weight_of(prefix, names.attention_norm), hidden}}});
  add_projection(plan, prefix, layer.qkv, layer.qkv_bias, config.qkv_bias, hidden,
                 {{names.q, query_rows}, {names.k, kv_rows}, {names.v, kv_rows}});
  add_projection(plan, prefix, layer.output, layer.output_bias, config.output_bias, query_rows, {{names.o, hidden}});
  plan.vectors.push_back({&layer.mlp_norm, {{weight_of(prefix, names.mlp_norm), hidden}}});
  add_projection(plan, prefix, layer.gate_up, layer.gate_up_bias, config.mlp_bias, hidden,
                 {{names.gate, ffn}, {names.up, ffn}});
  add_projection(plan, prefix, layer.down, layer.down_bias, config.mlp_bias, ffn, {{names.down, hidden}});
}

void check_part(const Checkpoint& checkpoint, const WeightPart& part, const Shape& shape) {
  MT_CHECK_AS(IoError, checkpoint.contains(part.name), "{}: expected a tensor \"{}\" of shape {}, got none",
              checkpoint.path().string(), part.name, to_string(shape));
  const io::SafetensorsFile& file = checkpoint.file_of(part.name);
  const io::SafetensorsEntry& entry = file.entry(part.name);
  MT_CHECK_AS(IoError, entry.shape == shape, "{}: tensor \"{}\": expected shape {}, got {}", file.path().string(),
              part.name, to_string(shape), to_string(entry.shape));
  const bool known = entry.dtype == DType::kF32 || entry.dtype == DType::kBF16 || entry.dtype == DType::kF16;
  MT_CHECK_AS(IoError, known, "{}: tensor \"{}\": expected dtype f32, bf16 or f16, got {}", file.path().string(),
              part.name, name_of(entry.dtype));
}

// Tensors that older tools stored although they follow from the config.
bool carries_nothing(const std::string& name, const ModelConfig& config, const TensorNames& names) {
  return name.ends_with(".rotary_emb.inv_freq") || (config.tie_word_embeddings && name == weight_of("", names.head));
}

}  // namespace

std::int64_t MatrixPlan::rows() const {
  std::int64_t rows = 0;
  for (const WeightPart& part : parts) rows += part.rows;
  return rows;
}

std::int64_t VectorPlan::size() const {
  std::int64_t size = 0;
  for (const WeightPart& part : parts) size += part.rows;
  return size;
}

WeightPlan make_weight_plan(const ModelConfig& config, DecoderWeights& weights) {
  const TensorNames& names = find_decoder_spec(config.architecture).names;
  const std::int64_t vocab = config.vocab_size;
  const std::int64_t hidden = config.hidden_size;
  weights.layers.resize(static_cast<std::size_t>(config.num_layers));
  WeightPlan plan;
  plan.matrices.push_back({&weights.embedding, hidden, {{weight_of("", names.embedding), vocab}}});
  for (std::size_t i = 0; i < weights.layers.size(); ++i) {
    add_layer(plan, config, names, static_cast<std::int64_t>(i), weights.layers[i]);
  }
  plan.vectors.push_back({&weights.final_norm, {{weight_of("", names.final_norm), hidden}}});
  if (!config.tie_word_embeddings) {
    plan.matrices.push_back({&weights.head, hidden, {{weight_of("", names.head), vocab}}});
  }
  return plan;
}

void check_weight_plan(const WeightPlan& plan, const ModelConfig& config, const Checkpoint& checkpoint) {
  std::set<std::string_view> expected;
  for (const MatrixPlan& matrix : plan.matrices) {
    for (const WeightPart& part : matrix.parts) {
      check_part(checkpoint, part, {part.rows, matrix.cols});
      expected.insert(part.name);
    }
  }
  for (const VectorPlan& vector : plan.vectors) {
    for (const WeightPart& part : vector.parts) {
      check_part(checkpoint, part, {part.rows});
      expected.insert(part.name);
    }
  }
  const TensorNames& names = find_decoder_spec(config.architecture).names;
  for (const auto& [name, file] : checkpoint.tensors()) {
    MT_CHECK_AS(IoError, expected.contains(name) || carries_nothing(name, config, names),
                "{}: tensor \"{}\" is not part of {} with this config.json", checkpoint.files()[file].path().string(),
                name, config.architecture);
  }
}

}  // namespace minitorch::models
