// Rotary position angles (Su et al. 2021) with the frequency scaling of Llama 3.1.
#include "models/rotary.h"

#include <cmath>  // std::pow, std::cos, std::sin
#include <numbers>

namespace minitorch::models {
namespace {

// Llama 3.1: frequencies whose wavelength exceeds the original context / low_freq_factor are divided by `factor`, those
// below the original context / high_freq_factor stay, and between the two bounds both are blended linearly in 1 /
// wavelength.
float scale_llama3(float frequency, const Llama3RopeScaling& scaling) {
  const auto factor = static_cast<float>(scaling.factor);
  const double context = scaling.original_max_position_embeddings;
  const float wavelength = static_cast<float>(2.0 * std::numbers::pi) / frequency;
  if (wavelength > static_cast<float>(context / scaling.low_freq_factor)) return frequency / factor;
  if (wavelength < static_cast<float>(context / scaling.high_freq_factor)) return frequency;
  const float blend = (static_cast<float>(context) / wavelength - static_cast<float>(scaling.low_freq_factor)) /
                      static_cast<float>(scaling.high_freq_factor - scaling.low_freq_factor);
  return (1.0f - blend) * frequency / factor + blend * frequency;
}

}  // namespace

std::vector<float> inverse_frequencies(const ModelConfig& config) {
  std::vector<float> frequencies;
  for (std::int64_t i = 0; i < config.head_dim / 2; ++i) {
    const float exponent = static_cast<float>(2 * i) / static_cast<float>(config.head_dim);
    const float frequency = 1.0f / static_cast<float>(std::pow(config.rope_theta, static_cast<double>(exponent)));
    frequencies.push_back(config.rope_scaling ? scale_llama3(frequency, *config.rope_scaling) : frequency);
  }
  return frequencies;
}

RotaryAngles rotary_angles(std::span<const float> inverse_frequencies, std::span<const std::int32_t> positions) {
  const auto rows = static_cast<std::int64_t>(positions.size());
  const auto half = static_cast<std::int64_t>(inverse_frequencies.size());
  RotaryAngles angles{.cos = Tensor::empty({rows, half}), .sin = Tensor::empty({rows, half})};
  float* cos = angles.cos.data<float>();
  float* sin = angles.sin.data<float>();
  for (const std::int32_t position : positions) {
    for (const float frequency : inverse_frequencies) {
      // In double, so that the result is the nearest float whatever the library's float functions do.
      const double angle = static_cast<double>(static_cast<float>(position) * frequency);
      *cos++ = static_cast<float>(std::cos(angle));
      *sin++ = static_cast<float>(std::sin(angle));
    }
  }
  return angles;
}

}  // namespace minitorch::models
