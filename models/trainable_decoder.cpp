// TrainableDecoder: initial weights, the forward pass over whole sequences, and the way to and from checkpoints.
#include "models/trainable_decoder.h"

#include <cmath>  // std::sqrt
#include <utility>

#include "minitorch/base/check.h"
#include "minitorch/base/philox.h"
#include "minitorch/nn/init.h"
#include "minitorch/ops/index.h"
#include "models/decoder.h"
#include "models/decoder_layers.h"
#include "models/rotary.h"
#include "models/weight_plan.h"

namespace minitorch::models {
namespace {

// Trained weights are f32, which kAuto keeps.
kernels::PackedFormat format_of(WeightDType dtype) {
  switch (dtype) {
    case WeightDType::kAuto:
    case WeightDType::kF32: return kernels::PackedFormat::kF32;
    case WeightDType::kBF16: return kernels::PackedFormat::kBF16;
    case WeightDType::kInt8: return kernels::PackedFormat::kInt8;
    case WeightDType::kInt4: return kernels::PackedFormat::kInt4;
  }
  return kernels::PackedFormat::kF32;
}

constexpr double kDeviation = 0.02;

// Matrices whose product is added to the residual stream.
bool writes_to_residual(const ModelConfig& config, const std::string& name) {
  const TensorNames& names = find_decoder_spec(config.architecture).names;
  return name.ends_with(std::string(names.o) + ".weight") || name.ends_with(std::string(names.down) + ".weight");
}

std::vector<std::int32_t> positions_within(std::span<const std::int32_t> begins, std::size_t rows) {
  MT_CHECK(!begins.empty() && begins.front() == 0 && static_cast<std::size_t>(begins.back()) == rows,
           "forward: expected sequence begins from 0 to {}, got {} of them", rows, begins.size());
  std::vector<std::int32_t> positions;
  positions.reserve(rows);
  for (std::size_t s = 0; s + 1 < begins.size(); ++s) {
    for (std::int32_t row = begins[s]; row < begins[s + 1]; ++row) positions.push_back(row - begins[s]);
  }
  MT_CHECK(positions.size() == rows, "forward: expected ascending sequence begins");
  return positions;
}

}  // namespace

TrainableDecoder::TrainableDecoder(ModelConfig config, std::uint64_t seed)
    : config_(std::move(config)), inverse_frequencies_(inverse_frequencies(config_)) {
  PhiloxStream random(seed);
  const double residual_scale = 1.0 / std::sqrt(2.0 * static_cast<double>(config_.num_layers));
  const auto plan = make_weight_plan(config_, weights_);
  for (const auto& matrix : plan.matrices) {
    const Tensor values = Tensor::empty({matrix.rows(), matrix.cols});
    nn::fill_normal(values, 0.0, kDeviation * (writes_to_residual(config_, matrix.name) ? residual_scale : 1.0),
                    random);
    *matrix.target = register_parameter(matrix.name, values);
  }
  for (const VectorPlan& vector : plan.vectors) {
    const bool is_bias = vector.name.ends_with(".bias");
    *vector.target = register_parameter(vector.name, Tensor::full({vector.size()}, is_bias ? 0.0 : 1.0));
  }
  if (config_.tie_word_embeddings) weights_.head = weights_.embedding;
}

Tensor TrainableDecoder::forward(std::span<const std::int32_t> tokens, std::span<const std::int32_t> begins) const {
  const RotaryAngles angles = rotary_angles(inverse_frequencies_, positions_within(begins, tokens.size()));
  const ops::AttentionHeads heads{
      .heads = config_.num_heads, .kv_heads = config_.num_kv_heads, .head_dim = config_.head_dim};
  const RowRange all{0, static_cast<std::int64_t>(tokens.size())};
  Tensor x = ops::embedding(weights_.embedding, tokens);
  for (const auto& layer : weights_.layers) {
    x = decoder_layer(config_, layer, x, angles, all,
                      [&](const Tensor& qkv) { return ops::causal_attention(qkv, begins, heads); });
  }
  return ops::linear(ops::rms_norm(x, weights_.final_norm, config_.rms_norm_eps), weights_.head);
}

std::map<std::string, Tensor> TrainableDecoder::checkpoint_tensors(DType dtype) const {
  const NoGradGuard no_grad;
  std::map<std::string, Tensor> tensors;
  const auto add_parts = [&](const Tensor& whole, const std::vector<WeightPart>& parts) {
    std::int64_t begin = 0;
    for (const WeightPart& part : parts) {
      tensors[part.name] = whole.slice(0, {.start = begin, .stop = begin + part.rows}).to(dtype).clone();
      begin += part.rows;
    }
  };
  DecoderWeightsOf<Tensor> copy = weights_;
  const auto plan = make_weight_plan(config_, copy);
  for (const auto& matrix : plan.matrices) add_parts(*matrix.target, matrix.parts);
  for (const VectorPlan& vector : plan.vectors) add_parts(*vector.target, vector.parts);
  return tensors;
}

void TrainableDecoder::load_checkpoint_tensors(const std::map<std::string, Tensor>& tensors) {
  const NoGradGuard no_grad;
  const auto plan = make_weight_plan(config_, weights_);
  const auto visit_parts = [&](const Tensor& whole, const std::vector<WeightPart>& parts, const auto& visit) {
    std::int64_t begin = 0;
    for (const WeightPart& part : parts) {
      visit(whole.slice(0, {.start = begin, .stop = begin + part.rows}), part.name);
      begin += part.rows;
    }
  };
  const auto visit_all = [&](const auto& visit) {
    for (const auto& matrix : plan.matrices) visit_parts(*matrix.target, matrix.parts, visit);
    for (const VectorPlan& vector : plan.vectors) visit_parts(*vector.target, vector.parts, visit);
  };
  visit_all([&](const Tensor& target, const std::string& name) {
    const auto found = tensors.find(name);
    MT_CHECK(found != tensors.end(), "load_checkpoint_tensors: expected a tensor \"{}\", got none", name);
    MT_CHECK_AS(ShapeError, found->second.shape() == target.shape(),
                "load_checkpoint_tensors: \"{}\": expected shape {}, got {}", name, to_string(target.shape()),
                to_string(found->second.shape()));
  });
  visit_all([&](const Tensor& target, const std::string& name) { target.copy_(tensors.at(name)); });
}

std::unique_ptr<CausalLM> TrainableDecoder::freeze(const Runtime& runtime, WeightDType dtype) const {
  // Weights live in the default pool, which outlives every model.
  const ExecutionScope scope({.runtime = runtime, .memory = &default_memory_pool(), .grad_enabled = false});
  const kernels::PackedFormat format = format_of(dtype);
  DecoderWeightsOf<Tensor> trained = weights_;
  DecoderWeights packed;
  const auto from = make_weight_plan(config_, trained);
  const auto to = make_weight_plan(config_, packed);
  for (std::size_t i = 0; i < to.matrices.size(); ++i) {
    *to.matrices[i].target = pack(from.matrices[i].target->detach(), format);
    packed.bytes += to.matrices[i].target->bytes();
  }
  for (std::size_t i = 0; i < to.vectors.size(); ++i) {
    const Tensor& vector = *from.vectors[i].target;
    const bool rounded = format == kernels::PackedFormat::kBF16;
    *to.vectors[i].target = rounded ? vector.to(DType::kBF16).to(DType::kF32) : vector.detach().clone();
    packed.bytes += vector.numel() * static_cast<std::int64_t>(sizeof(float));
  }
  if (config_.tie_word_embeddings) packed.head = packed.embedding;
  return std::make_unique<Decoder>(config_, std::move(packed), runtime, default_cache_dtype(format));
}

std::string TrainableDecoder::describe() const {
  return fmt::format("{}, vocab={}, layers={}, hidden={}, heads={}/{}, ffn={}", config_.architecture,
                     config_.vocab_size, config_.num_layers, config_.hidden_size, config_.num_heads,
                     config_.num_kv_heads, config_.intermediate_size);
}

}  // namespace minitorch::models
