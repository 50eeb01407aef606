// adamw: one step of Adam with decoupled weight decay (Loshchilov & Hutter 2019) on one parameter.
#pragma once

#include <cstdint>

namespace minitorch::kernels {

// All arrays [n] f32, contiguous. g = grad * grad_scale;
//   m <- beta1 m + (1 - beta1) g;  v <- beta2 v + (1 - beta2) g^2;
//   p <- p - lr weight_decay p - lr (m / correction1) / (sqrt(v / correction2) + eps)
// with correction_i = 1 - beta_i^step. Tolerance against `reference` (double): for p
// 1e-6 * (|p| + lr max(1, |g| / sqrt(v / correction2))), because m may be what is left of a cancellation; for m
// 1e-6 * (|m before| + |g|); for v 1e-6 relative.
struct AdamWArgs {
  float* parameter = nullptr;
  const float* grad = nullptr;
  float* m = nullptr;
  float* v = nullptr;
  std::int64_t count = 0;
  float grad_scale = 1.0f;
  float lr = 0.0f;
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float eps = 1e-8f;
  float weight_decay = 0.0f;
  float correction1 = 1.0f;
  float correction2 = 1.0f;
};

}  // namespace minitorch::kernels
