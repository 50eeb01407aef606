// The training loop.
#include "examples/train_tiny_r1/trainer.h"

#include <chrono>
#include <cmath>  // std::isfinite
#include <string_view>

#include "minitorch/base/check.h"
#include "minitorch/io/safetensors.h"

namespace minitorch::train_tiny_r1 {
namespace {

constexpr std::string_view kModelPrefix = "model:";
constexpr std::string_view kOptimizerPrefix = "optimizer:";

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void write_checkpoint(const TrainOptions& options, const models::TrainableDecoder& model,
                      const optim::AdamW& optimizer) {
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, tensor] : model.state_dict()) tensors[std::string(kModelPrefix) + name] = tensor;
  for (const auto& [name, tensor] : optimizer.state_dict()) tensors[std::string(kOptimizerPrefix) + name] = tensor;
  io::write_safetensors(options.checkpoint, tensors, {{"recipe", options.recipe}});
}

void read_checkpoint(const TrainOptions& options, models::TrainableDecoder& model, optim::AdamW& optimizer) {
  const io::SafetensorsFile file(options.checkpoint);
  const auto recipe = file.metadata().find("recipe");
  MT_CHECK(recipe != file.metadata().end() && recipe->second == options.recipe,
           "{}: expected a checkpoint of this run ({}), got one of another ({}); remove it or use another --work",
           options.checkpoint.string(), options.recipe,
           recipe != file.metadata().end() ? recipe->second : std::string("unknown"));
  std::map<std::string, Tensor> of_model, of_optimizer;
  for (const auto& [name, entry] : file.entries()) {
    if (name.starts_with(kModelPrefix)) of_model[name.substr(kModelPrefix.size())] = file.read(name);
    if (name.starts_with(kOptimizerPrefix)) of_optimizer[name.substr(kOptimizerPrefix.size())] = file.read(name);
  }
  model.load_state_dict(of_model);
  optimizer.load_state_dict(of_optimizer);
}

class Trainer {
 public:
  Trainer(models::TrainableDecoder& model, const Batches& batches, const Loss& loss, const TrainOptions& options)
      : model_(model),
        batches_(batches),
        loss_(loss),
        options_(options),
        parameters_(model.parameters()),
        optimizer_(model.named_parameters(), {.lr = options.peak_lr}),
        schedule_{
            .peak = options.peak_lr, .floor = options.floor_lr, .warmup = options.warmup, .total = options.steps} {
    if (std::filesystem::exists(options.checkpoint)) read_checkpoint(options, model_, optimizer_);
    first_step_ = optimizer_.num_steps();
  }

  [[nodiscard]] std::int64_t next_step() const { return optimizer_.num_steps(); }
  [[nodiscard]] std::int64_t steps_of_this_run() const { return next_step() - first_step_; }

  StepReport step() {
    const auto start = std::chrono::steady_clock::now();
    StepReport report{.step = next_step(), .lr = schedule_.at(next_step())};
    const Batch batch = batches_.at(report.step);
    {
      const Tensor loss = loss_(batch);
      report.loss = loss.item();
      MT_CHECK(std::isfinite(report.loss), "training: the loss of step {} is not finite", report.step);
      loss.backward();
    }
    report.grad_norm = optim::grad_norm(parameters_);
    optimizer_.step(report.lr, optim::clip_factor(report.grad_norm, options_.max_grad_norm));
    optimizer_.zero_grad();
    report.step_s = seconds_since(start);
    report.gflops =
        6e-9 * static_cast<double>(model_.num_parameters()) * static_cast<double>(batches_.rows()) / report.step_s;
    total_s_ += report.step_s;
    report.left_s =
        total_s_ / static_cast<double>(steps_of_this_run()) * static_cast<double>(options_.steps - next_step());
    return report;
  }

  void save() const {
    if (!options_.checkpoint.empty()) write_checkpoint(options_, model_, optimizer_);
  }

 private:
  models::TrainableDecoder& model_;
  const Batches& batches_;
  const Loss& loss_;
  const TrainOptions& options_;
  std::vector<Tensor> parameters_;
  optim::AdamW optimizer_;
  optim::CosineSchedule schedule_;
  std::int64_t first_step_ = 0;
  double total_s_ = 0.0;
};

}  // namespace

bool train(models::TrainableDecoder& model, const Batches& batches, const Loss& loss, const TrainOptions& options,
           const std::atomic<bool>& stop_requested, const Report& report) {
  Trainer trainer(model, batches, loss, options);
  while (trainer.next_step() < options.steps) {
    if (trainer.steps_of_this_run() >= options.stop_after || stop_requested) {
      trainer.save();
      return false;
    }
    report(trainer.step());
    if (trainer.next_step() % options.checkpoint_every == 0) trainer.save();
  }
  trainer.save();
  return true;
}

}  // namespace minitorch::train_tiny_r1
