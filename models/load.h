// Loading a Hugging Face model folder: config, weights and tokenizer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "minitorch/core/execution_scope.h"
#include "models/causal_lm.h"
#include "models/config.h"
#include "models/cost_curve.h"
#include "models/tokenizer/tokenizer.h"

namespace minitorch::models {

// In which form matrices are held. kAuto: as a packed file holds them; bf16 where stored as bf16, else f32 (f16 is
// widened). kInt8 and kInt4 are made on loading: 8.5 and 4.5 bits per weight, in groups of 32
// (kernels/packed_matrix.h), and rows of activations are rounded to int8 with both.
enum class WeightDType : std::uint8_t { kAuto, kF32, kBF16, kInt8, kInt4 };

// "auto", "f32", "bf16", "int8", "int4". Throws Error that lists them.
[[nodiscard]] WeightDType weight_dtype_of(std::string_view name);

struct LoadOptions {
  WeightDType dtype = WeightDType::kAuto;
  // f32 or bf16; default: f32 where the weights are held in f32, else bf16.
  std::optional<DType> cache_dtype = std::nullopt;
};

// A decoder with its weights, ready to generate. Throws IoError / Error that name the file and tensor.
[[nodiscard]] std::unique_ptr<CausalLM> load_causal_lm(const std::filesystem::path& directory, const Runtime& runtime,
                                                       const LoadOptions& options = {});

// Bytes of weights held by a model returned by load_causal_lm, without its caches.
[[nodiscard]] std::int64_t weight_bytes(const CausalLM& model);

// A folder as programs use it: the ids that the tokenizer lacks are masked.
struct LoadedModel {
  ModelConfig config;
  Tokenizer tokenizer;
  std::unique_ptr<CausalLM> model;
  CostCurve pass_cost;  // empty until somebody measures it (models/cost_cache.h)
};
[[nodiscard]] LoadedModel load_model(const std::filesystem::path& directory, const Runtime& runtime,
                                     const LoadOptions& options = {});

}  // namespace minitorch::models
