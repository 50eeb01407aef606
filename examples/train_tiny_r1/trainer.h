// The training loop: steps, learning rate, checkpoints, progress. Stopping and resuming gives what not stopping gives.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "examples/train_tiny_r1/batches.h"
#include "minitorch/optim/adamw.h"
#include "models/trainable_decoder.h"

namespace minitorch::train_tiny_r1 {

struct TrainOptions {
  std::int64_t steps = 2400;
  double peak_lr = 1e-3;
  double floor_lr = 1e-4;
  std::int64_t warmup = 100;
  double max_grad_norm = 1.0;
  std::int64_t stop_after = INT64_MAX;  // steps of this run; a checkpoint is written then
  std::int64_t checkpoint_every = 50;
  std::filesystem::path checkpoint;  // read where it exists
  std::string recipe;                // what the run depends on; a checkpoint of another recipe is refused
};

struct StepReport {
  std::int64_t step = 0;  // the loss is that before this step's update
  double loss = 0.0;
  double grad_norm = 0.0;
  double lr = 0.0;
  double step_s = 0.0;
  double left_s = 0.0;  // to the last step, at the speed so far
  double gflops = 0.0;  // 6 x parameters x tokens / time
};

// The loss of a batch, a scalar that backward() is called on.
using Loss = std::function<Tensor(const Batch& batch)>;
using Report = std::function<void(const StepReport& report)>;

// Trains `model` up to options.steps. Returns false when it stopped before: after options.stop_after steps, or because
// `stop_requested` was set.
bool train(models::TrainableDecoder& model, const Batches& batches, const Loss& loss, const TrainOptions& options,
           const std::atomic<bool>& stop_requested, const Report& report);

}  // namespace minitorch::train_tiny_r1
