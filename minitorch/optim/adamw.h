// AdamW (Loshchilov & Hutter 2019), gradient clipping, and the cosine schedule with warm-up.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "minitorch/core/tensor.h"

namespace minitorch::optim {

struct AdamWOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double eps = 1e-8;
  double weight_decay = 0.1;  // of parameters with two or more dimensions; norms and biases do not decay
};

class AdamW {
 public:
  // Parameters by name: f32 leaves that require gradients.
  AdamW(std::vector<std::pair<std::string, Tensor>> parameters, const AdamWOptions& options);

  // One step with learning rate `lr`; gradients are multiplied by `grad_scale` first (clipping). Parameters without a
  // gradient stay as they are. Results do not depend on the number of threads.
  void step(double lr, double grad_scale = 1.0);
  void zero_grad();

  [[nodiscard]] std::int64_t num_steps() const { return num_steps_; }
  // "step" (i64 scalar), "<name>.m" and "<name>.v", sharing memory; what a checkpoint needs.
  [[nodiscard]] std::map<std::string, Tensor> state_dict() const;
  // Throws Error that names a missing, unexpected or misshapen entry; nothing is changed then.
  void load_state_dict(const std::map<std::string, Tensor>& values);

 private:
  struct Slot {
    std::string name;
    Tensor parameter, m, v;
  };
  std::vector<Slot> slots_;
  AdamWOptions options_;
  std::int64_t num_steps_ = 0;
};

// sqrt of the sum of squares of all gradients, added in f64 in a fixed order; those without a gradient count 0.
[[nodiscard]] double grad_norm(std::span<const Tensor> parameters);
// The factor that brings a norm down to max_norm: 1 when it is below. Throws Error when the norm is not finite.
[[nodiscard]] double clip_factor(double norm, double max_norm);

// Linear warm-up from 0 to `peak` over `warmup` steps, then half a cosine down to `floor` at step `total`.
struct CosineSchedule {
  double peak = 1e-3;
  double floor = 1e-4;
  std::int64_t warmup = 100;
  std::int64_t total = 1000;
  [[nodiscard]] double at(std::int64_t step) const;  // step counts from 0
};

}  // namespace minitorch::optim
