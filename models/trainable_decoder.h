// TrainableDecoder: the decoder with weights that can be trained. The layers are those of decoder_layers.h, as in
// generation.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "minitorch/core/execution_scope.h"
#include "minitorch/nn/module.h"
#include "models/causal_lm.h"
#include "models/config.h"
#include "models/load.h"
#include "models/weights.h"

namespace minitorch::models {

class TrainableDecoder final : public nn::Module {
 public:
  // Random weights: matrices normal(0, 0.02), those that write to the residual stream divided by sqrt(2 L) (Radford et
  // al. 2019), norms 1, biases 0.
  TrainableDecoder(ModelConfig config, std::uint64_t seed);

  [[nodiscard]] const ModelConfig& config() const { return config_; }

  // tokens [M]: sequences one behind the other, sequence s with the rows begins[s] .. begins[s + 1] - 1, positions from
  // 0. -> logits [M, V].
  [[nodiscard]] Tensor forward(std::span<const std::int32_t> tokens, std::span<const std::int32_t> begins) const;

  // The weights under the names of a Hugging Face checkpoint, converted to `dtype`.
  [[nodiscard]] std::map<std::string, Tensor> checkpoint_tensors(DType dtype) const;
  // The other way. Throws Error when one is missing or has another shape.
  void load_checkpoint_tensors(const std::map<std::string, Tensor>& tensors);

  // A decoder for generation with a copy of the weights as they are now.
  [[nodiscard]] std::unique_ptr<CausalLM> freeze(const Runtime& runtime, WeightDType dtype) const;

 protected:
  [[nodiscard]] std::string describe() const override;
  [[nodiscard]] std::string_view kind() const override { return "TrainableDecoder"; }

 private:
  ModelConfig config_;
  DecoderWeightsOf<Tensor> weights_;
  std::vector<float> inverse_frequencies_;
};

}  // namespace minitorch::models
