// Rotary position angles of a model: inverse frequencies, and cos/sin of a batch's positions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "minitorch/core/tensor.h"
#include "models/config.h"

namespace minitorch::models {

// 1 / theta^(2i / D) for i in [0, D/2), scaled where the config says so. Computed in f32 like the Hugging Face
// implementation, because at far positions the last bit of a frequency moves the angle visibly.
[[nodiscard]] std::vector<float> inverse_frequencies(const ModelConfig& config);

// cos and sin of every row's angles, shared by all layers.
struct RotaryAngles {
  Tensor cos;  // [M, D/2]
  Tensor sin;  // [M, D/2]
};

// The angle is the f32 product of position and inverse frequency.
[[nodiscard]] RotaryAngles rotary_angles(std::span<const float> inverse_frequencies,
                                         std::span<const std::int32_t> positions);

}  // namespace minitorch::models
