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

// dgate and dup [M, F] from dout [M, F]: with s = 1 / (1 + exp(-gate)), dup = dout gate s, and
// dgate = dout up s (1 + gate (1 - s)). They may be the memory of gate and up.
// Tolerance against `reference`: 1e-5 * max(1, |gate|) * max(|up|, 1) * |dout| + 1e-37.
struct SiluMulBackwardArgs {
  const float* gate = nullptr;
  std::int64_t gate_stride = 0;
  const float* up = nullptr;
  std::int64_t up_stride = 0;
  const float* dout = nullptr;
  std::int64_t dout_stride = 0;
  float* dgate = nullptr;
  std::int64_t dgate_stride = 0;
  float* dup = nullptr;
  std::int64_t dup_stride = 0;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};

}  // namespace minitorch::kernels
