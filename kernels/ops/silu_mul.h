// silu_mul: out = silu(gate) * up with silu(x) = x / (1 + exp(-x)), the gate of a SwiGLU feed-forward (Shazeer 2020).
#pragma once

#include <cstdint>

namespace minitorch::kernels {

// gate, up, out [M, F] f32; out may be gate or up. Tolerance against `reference`: 4e-6 relative +
// 1e-37 * max(1, |up|) absolute.
struct SiluMulArgs {
  const float* gate = nullptr;
  std::int64_t gate_stride = 0;
  const float* up = nullptr;
  std::int64_t up_stride = 0;
  float* out = nullptr;
  std::int64_t out_stride = 0;
  std::int64_t rows = 0;  // M
  std::int64_t cols = 0;  // F
};

}  // namespace minitorch::kernels
