// Loading a Hugging Face model folder.
#include "models/load.h"

#include <algorithm>
#include <exception>
#include <future>
#include <utility>

#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"
#include "models/checkpoint.h"
#include "models/decoder.h"
#include "models/weights.h"

namespace minitorch::models {
namespace {

// Ids of the model that the tokenizer has a token for.
ValidIds ids_of(const Tokenizer& tokenizer, std::int32_t vocab_size) {
  ValidIds ids;
  ids.limit = std::min(tokenizer.size(), vocab_size);
  for (std::int32_t id = 0; id < ids.limit; ++id) {
    if (!tokenizer.has_id(id)) ids.holes.push_back(id);
  }
  return ids;
}

}  // namespace

WeightDType weight_dtype_of(std::string_view name) {
  if (name == "auto") return WeightDType::kAuto;
  if (name == "f32") return WeightDType::kF32;
  if (name == "bf16") return WeightDType::kBF16;
  if (name == "int8") return WeightDType::kInt8;
  if (name == "int4") return WeightDType::kInt4;
  fail<Error>("dtype: expected auto, f32, bf16, int8 or int4, got '{}'", printable(name, 60));
}

std::unique_ptr<CausalLM> load_causal_lm(const std::filesystem::path& directory, const Runtime& runtime,
                                         const LoadOptions& options) {
  MT_CHECK(runtime.table != nullptr && runtime.threads != nullptr,
           "load_causal_lm: expected a runtime with table and threads");
  // Weights live in the default pool, which outlives every model.
  const ExecutionScope scope({.runtime = runtime, .memory = &default_memory_pool(), .grad_enabled = false});
  const ModelConfig config = read_model_config(directory);
  DecoderWeights weights = load_weights(Checkpoint(directory), config, options.dtype, *runtime.threads);
  const DType cache_dtype = options.cache_dtype.value_or(default_cache_dtype(weights.embedding.format()));
  return std::make_unique<Decoder>(config, std::move(weights), runtime, cache_dtype);
}

std::int64_t weight_bytes(const CausalLM& model) {
  const auto* decoder = dynamic_cast<const Decoder*>(&model);
  MT_CHECK(decoder != nullptr, "weight_bytes: expected a model made by load_causal_lm");
  return decoder->weights().bytes;
}

// The tokenizer is read beside the weights, on a thread of its own where the system gives one. Of several errors the
// first of config, tokenizer and weights is thrown, as if they were read in turn.
LoadedModel load_model(const std::filesystem::path& directory, const Runtime& runtime, const LoadOptions& options) {
  ModelConfig config = read_model_config(directory);
  auto tokenizer = std::async([&] { return Tokenizer::from_directory(directory); });
  std::unique_ptr<CausalLM> model;
  std::exception_ptr error;
  try {
    model = load_causal_lm(directory, runtime, options);
  } catch (...) {
    error = std::current_exception();
  }
  LoadedModel loaded{
      .config = std::move(config), .tokenizer = tokenizer.get(), .model = std::move(model), .pass_cost = {}};
  if (error) std::rethrow_exception(error);
  loaded.model->restrict_ids(ids_of(loaded.tokenizer, loaded.model->vocab_size()));
  return loaded;
}

}  // namespace minitorch::models
