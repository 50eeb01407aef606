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

// Adds a matrix whose row groups are the projections `parts`, and where `with_bias` their biases. `name` is that of the
// whole.
template <typename Matrix>
void add_projection(WeightPlanOf<Matrix>& plan, std::string_view prefix, std::string_view name, Matrix& matrix,
                    Tensor& bias, bool with_bias, std::int64_t cols,
                    const std::vector<std::pair<std::string_view, std::int64_t>>& parts) {
  MatrixPlanOf<Matrix> matrix_plan{.target = &matrix, .name = weight_of(prefix, name), .cols = cols, .parts = {}};
  VectorPlan bias_plan{.target = &bias, .name = bias_of(prefix, name), .parts = {}};
  for (const auto& [part, rows] : parts) {
    matrix_plan.parts.push_back({weight_of(prefix, part), rows});
    bias_plan.parts.push_back({bias_of(prefix, part), rows});
  }
  plan.matrices.push_back(std::move(matrix_plan));
  if (with_bias) plan.vectors.push_back(std::move(bias_plan));
}

// Adds a vector or matrix that is one tensor of the checkpoint.
template <typename Plans, typename Target>
void add_whole(Plans& plans, Target& target, const std::string& name, std::int64_t rows, std::int64_t cols = 0) {
  typename Plans::value_type plan{.target = &target, .name = name, .parts = {{name, rows}}};
  if constexpr (requires { plan.cols; }) plan.cols = cols;
  plans.push_back(std::move(plan));
}

template <typename Matrix>
void add_layer(WeightPlanOf<Matrix>& plan, const ModelConfig& config, const TensorNames& names, std::int64_t index,
               LayerWeightsOf<Matrix>& layer) {
  const std::string prefix = fmt::format("{}{}.", names.layer_prefix, index);
  const std::int64_t hidden = config.hidden_size;
  const std::int64_t query_rows = config.num_heads * config.head_dim;
  const std::int64_t kv_rows = config.num_kv_heads * config.head_dim;
  const std::int64_t ffn = config.intermediate_size;
  add_whole(plan.vectors, layer.attention_norm, weight_of(prefix, names.attention_norm), hidden);
  add_projection(plan, prefix, "self_attn.qkv_proj", layer.qkv, layer.qkv_bias, config.qkv_bias, hidden,
                 {{names.q, query_rows}, {names.k, kv_rows}, {names.v, kv_rows}});
  add_projection(plan, prefix, names.o, layer.output, layer.output_bias, config.output_bias, query_rows,
                 {{names.o, hidden}});
  add_whole(plan.vectors, layer.mlp_norm, weight_of(prefix, names.mlp_norm), hidden);
  add_projection(plan, prefix, "mlp.gate_up_proj", layer.gate_up, layer.gate_up_bias, config.mlp_bias, hidden,
                 {{names.gate, ffn}, {names.up, ffn}});
  add_projection(plan, prefix, names.down, layer.down, layer.down_bias, config.mlp_bias, ffn, {{names.down, hidden}});
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

std::int64_t total_rows(const std::vector<WeightPart>& parts) {
  std::int64_t rows = 0;
  for (const WeightPart& part : parts) rows += part.rows;
  return rows;
}

template <typename Matrix>
WeightPlanOf<Matrix> make_weight_plan(const ModelConfig& config, DecoderWeightsOf<Matrix>& weights) {
  const TensorNames& names = find_decoder_spec(config.architecture).names;
  const std::int64_t vocab = config.vocab_size;
  const std::int64_t hidden = config.hidden_size;
  weights.layers.resize(static_cast<std::size_t>(config.num_layers));
  WeightPlanOf<Matrix> plan;
  add_whole(plan.matrices, weights.embedding, weight_of("", names.embedding), vocab, hidden);
  for (std::size_t i = 0; i < weights.layers.size(); ++i) {
    add_layer(plan, config, names, static_cast<std::int64_t>(i), weights.layers[i]);
  }
  add_whole(plan.vectors, weights.final_norm, weight_of("", names.final_norm), hidden);
  if (!config.tie_word_embeddings) {
    add_whole(plan.matrices, weights.head, weight_of("", names.head), vocab, hidden);
  }
  return plan;
}

template WeightPlan make_weight_plan(const ModelConfig&, DecoderWeights&);
template WeightPlanOf<Tensor> make_weight_plan(const ModelConfig&, DecoderWeightsOf<Tensor>&);

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
