// Decoder: the forward pass over all layers.
#include "models/decoder.h"

#include <algorithm>
#include <cmath>  // std::sqrt
#include <utility>

#include "minitorch/base/check.h"
#include "minitorch/ops/inference.h"
#include "models/decoder_layers.h"

namespace minitorch::models {
namespace {

// Room for draft rows beyond the context: a tree may hold several rows per position.
constexpr std::int32_t kMaxDraftRows = 1024;

RowRange all_rows(const Batch& batch) { return {0, static_cast<std::int64_t>(batch.rows.size())}; }

// `rows` of the batch as rows of the round that begins at round.begin.
RowRange local_rows(RowRange rows, RowRange round) { return {rows.begin - round.begin, rows.end - round.begin}; }

}  // namespace

Decoder::Decoder(ModelConfig config, DecoderWeights weights, const Runtime& runtime, DType cache_dtype)
    : config_(std::move(config)),
      weights_(std::move(weights)),
      runtime_(runtime),
      limits_{.vocab_size = static_cast<std::int32_t>(config_.vocab_size),
              .max_context = static_cast<std::int32_t>(config_.max_position_embeddings),
              .cache_shape = {.layers = config_.num_layers,
                              .layout = {.dtype = cache_dtype,
                                         .kv_heads = config_.num_kv_heads,
                                         .head_dim = config_.head_dim}}},
      inverse_frequencies_(inverse_frequencies(config_)),
      layers_{0, config_.num_layers} {
  MT_CHECK_AS(DTypeError, cache_dtype == DType::kF32 || cache_dtype == DType::kBF16,
              "decoder: expected a cache of dtype f32 or bf16, got {}", name_of(cache_dtype));
}

KVCache Decoder::make_cache(std::int32_t capacity) const {
  return KVCache(limits_.cache_shape, std::min(capacity, limits_.max_context + kMaxDraftRows), runtime_);
}

void Decoder::use_layers(RowRange layers) {
  MT_CHECK(layers.begin >= 0 && layers.begin <= layers.end && layers.end <= config_.num_layers,
           "decoder: expected layers within [0, {}), got [{}, {})", config_.num_layers, layers.begin, layers.end);
  layers_ = layers;
}

void Decoder::forward(const Batch& batch, Outputs& outputs) {
  head_rows_.plan(batch, config_, valid_ids(), outputs);
  rows_.append(batch, limits_);
  try {
    compute(batch, outputs);
  } catch (...) {
    drop_pending_rows(batch);
    throw;
  }
}

void Decoder::compute(const Batch& batch, Outputs& outputs) {
  const ExecutionScope scope({.runtime = runtime_, .memory = &memory_, .grad_enabled = false});
  const RowRange all = all_rows(batch);
  const Tensor wanted = head_rows_.count() > 0 ? Tensor::empty({head_rows_.count(), config_.hidden_size}) : Tensor();
  for (std::int64_t begin = 0; begin < all.end; begin += kRowsPerRound) {
    const RowRange rows{begin, std::min(begin + kRowsPerRound, all.end)};
    const auto positions =
        rows_.positions().subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(rows.size()));
    const bool all_needed = outputs.hidden_layer >= 0 && outputs.hidden_layer == layers_.end - 1;
    const Round round{.rows = rows,
                      .last_rows = all_needed ? rows : head_rows_.wanted_within(rows),
                      .angles = rotary_angles(inverse_frequencies_, positions)};
    const Tensor x = run_layers(batch, round, outputs);
    if (x.defined()) head_rows_.collect(x, round.last_rows.begin, wanted);
  }
  if (head_rows_.count() > 0) head_rows_.compute(wanted, batch, weights_, config_, valid_ids(), outputs);
}

// The residual stream of round.last_rows behind all layers; undefined when there are none.
Tensor Decoder::run_layers(const Batch& batch, const Round& round, Outputs& outputs) {
  const auto tokens =
      rows_.tokens().subspan(static_cast<std::size_t>(round.rows.begin), static_cast<std::size_t>(round.rows.size()));
  Tensor x = ops::gather_rows(weights_.embedding, tokens);
  for (std::int64_t layer = layers_.begin; layer < layers_.end; ++layer) {
    const RowRange needed = layer == layers_.end - 1 ? round.last_rows : round.rows;
    x = decoder_layer(config_, weights_.layers[static_cast<std::size_t>(layer)], x, round.angles,
                      local_rows(needed, round.rows),
                      [&](const Tensor& qkv) { return attend(layer, qkv, batch, round, needed); });
    if (!x.defined()) return x;
    if (layer == outputs.hidden_layer) rows_of(outputs.hidden, round.rows).copy_(x);
  }
  return layers_.size() > 0 ? x : rows_of(x, local_rows(round.last_rows, round.rows));
}

// The layer's attention: stores the keys and values of all rows; [rows needed, H D], undefined when there are none.
Tensor Decoder::attend(std::int64_t layer, const Tensor& qkv, const Batch& batch, const Round& round, RowRange needed) {
  pages_.clear();
  for (const KVCache* cache : batch.caches) pages_.push_back(cache->layer_pages(layer));
  store_keys_values(qkv, round.rows);
  if (needed.size() == 0) return {};
  return attend_to_cache(rows_of(qkv, local_rows(needed, round.rows)), needed);
}

// qkv [M, (H + 2K) D]: the keys and values into the caches' pages.
void Decoder::store_keys_values(const Tensor& qkv, RowRange rows) const {
  const std::int64_t row_size = qkv.size(1);
  const float* keys = qkv.data<float>() + config_.num_heads * config_.head_dim;
  runtime_.table->kv_store(kernels::Context{.pool = *runtime_.threads},
                           {.layout = limits_.cache_shape.layout,
                            .sequences = pages_.data(),
                            .slots = rows_.slots().data() + rows.begin,
                            .k = keys,
                            .k_stride = row_size,
                            .v = keys + config_.num_kv_heads * config_.head_dim,
                            .v_stride = row_size,
                            .rows = rows.size()});
}

// qkv [M, (H + 2K) D] -> [M, H D].
Tensor Decoder::attend_to_cache(const Tensor& qkv, RowRange rows) const {
  const std::int64_t width = config_.num_heads * config_.head_dim;
  const Tensor out = Tensor::empty({rows.size(), width});
  const kernels::AttentionArgs args{
      .layout = limits_.cache_shape.layout,
      .sequences = pages_.data(),
      .row = rows_.attention_rows().data() + rows.begin,
      .q = qkv.data<float>(),
      .q_stride = qkv.size(1),
      .out = out.data<float>(),
      .out_stride = width,
      .rows = rows.size(),
      .heads = config_.num_heads,
      .scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(config_.head_dim)))};
  const std::size_t bytes = kernels::attention_scratch_bytes(args, runtime_.threads->size());
  runtime_.table->attention({.pool = *runtime_.threads, .scratch = scratch_memory(bytes)}, args);
  return out;
}

}  // namespace minitorch::models
