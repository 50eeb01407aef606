// DecoderWeights: all weights of a decoder as the forward pass uses them, and reading them from a checkpoint.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "minitorch/base/thread_pool.h"
#include "minitorch/core/packed_matrix.h"
#include "minitorch/core/tensor.h"
#include "models/checkpoint.h"
#include "models/config.h"
#include "models/decoder_spec.h"
#include "models/load.h"

namespace minitorch::models {

// Weights are kept in two forms: `Matrix` is PackedMatrix for generating, Tensor while they are trained. Biases that
// the architecture lacks are undefined.
template <typename Matrix>
struct LayerWeightsOf {
  Tensor attention_norm;  // [C]
  Matrix qkv;             // [(H + 2K) D, C]: q, k and v one below the other
  Tensor qkv_bias;        // [(H + 2K) D]
  Matrix output;          // [C, H D]
  Tensor output_bias;     // [C]
  Tensor mlp_norm;        // [C]
  Matrix gate_up;         // [2F, C]
  Tensor gate_up_bias;    // [2F]
  Matrix down;            // [C, F]
  Tensor down_bias;       // [C]
};

template <typename Matrix>
struct DecoderWeightsOf {
  Matrix embedding;  // [V, C]
  std::vector<LayerWeightsOf<Matrix>> layers;
  Tensor final_norm;  // [C]
  Matrix head;        // [V, C]; shares the memory of `embedding` when tied
  std::int64_t bytes = 0;
};

using LayerWeights = LayerWeightsOf<PackedMatrix>;
using DecoderWeights = DecoderWeightsOf<PackedMatrix>;

// Reads all weights; matrices go straight into panels inside one arena, and those of a packed file are read as they
// are. Throws IoError that names the file and the tensor when one is missing, has another shape or type, or is not part
// of this architecture; Error when a packed file holds another format than `dtype`.
[[nodiscard]] DecoderWeights load_weights(const Checkpoint& checkpoint, const ModelConfig& config, WeightDType dtype,
                                          ThreadPool& threads);

// "f32", "bf16", "int8"; "?" for numbers behind the last format.
[[nodiscard]] std::string_view name_of(kernels::PackedFormat format);
// All formats by name.
[[nodiscard]] std::map<std::string_view, kernels::PackedFormat> packed_formats();
// The type of keys and values beside weights of a format, unless another is asked for.
[[nodiscard]] DType default_cache_dtype(kernels::PackedFormat format);

// What load_weights would hold.
struct WeightSummary {
  kernels::PackedFormat format = kernels::PackedFormat::kF32;
  std::int64_t parameters = 0;
  std::int64_t bytes = 0;
};

// Checks the checkpoint as load_weights does, without reading any weight.
[[nodiscard]] WeightSummary summarize_weights(const Checkpoint& checkpoint, const ModelConfig& config,
                                              WeightDType dtype);

}  // namespace minitorch::models
