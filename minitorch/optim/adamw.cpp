// AdamW: one kernel call per parameter.
#include "minitorch/optim/adamw.h"

#include <cmath>

#include "kernels/ops/adamw.h"
#include "minitorch/base/check.h"
#include "minitorch/core/execution_scope.h"
#include "minitorch/core/named_tensors.h"

namespace minitorch::optim {
namespace {

constexpr const char* kStep = "step";

void check_options(const AdamWOptions& options) {
  MT_CHECK(options.beta1 >= 0 && options.beta1 < 1 && options.beta2 >= 0 && options.beta2 < 1,
           "AdamW: expected betas in [0, 1), got {} and {}", options.beta1, options.beta2);
  MT_CHECK(options.eps > 0 && options.weight_decay >= 0,
           "AdamW: expected eps above 0 and a weight decay of at least 0, got {} and {}", options.eps,
           options.weight_decay);
}

void check_parameter(const std::string& name, const Tensor& parameter) {
  MT_CHECK_AS(DTypeError, parameter.dtype() == DType::kF32, "AdamW: expected '{}' of dtype f32, got {}", name,
              name_of(parameter.dtype()));
  MT_CHECK(parameter.requires_grad() && parameter.is_leaf() && parameter.is_contiguous(),
           "AdamW: expected '{}' to be a contiguous leaf that requires a gradient", name);
}

}  // namespace

AdamW::AdamW(std::vector<std::pair<std::string, Tensor>> parameters, const AdamWOptions& options) : options_(options) {
  check_options(options);
  for (auto& [name, parameter] : parameters) {
    check_parameter(name, parameter);
    for (const Slot& slot : slots_) {
      MT_CHECK(slot.name != name && slot.parameter.node() != parameter.node(),
               "AdamW: expected every parameter once, under a name of its own, got '{}' and '{}'", slot.name, name);
    }
    const Tensor m = Tensor::zeros(parameter.shape());
    const Tensor v = Tensor::zeros(parameter.shape());
    slots_.push_back({.name = std::move(name), .parameter = std::move(parameter), .m = m, .v = v});
  }
}

void AdamW::step(double lr, double grad_scale) {
  const NoGradGuard unrecorded;
  ++num_steps_;
  const auto steps = static_cast<double>(num_steps_);
  const Runtime& runtime = ExecutionScope::current().runtime;
  for (const Slot& slot : slots_) {
    if (!slot.parameter.grad().defined()) continue;
    const Tensor gradient = slot.parameter.grad().contiguous();
    const double weight_decay = slot.parameter.dims() >= 2 ? options_.weight_decay : 0.0;
    runtime.table->adamw({.pool = *runtime.threads},
                         {.parameter = slot.parameter.data<float>(),
                          .grad = gradient.data<float>(),
                          .m = slot.m.data<float>(),
                          .v = slot.v.data<float>(),
                          .count = slot.parameter.numel(),
                          .grad_scale = static_cast<float>(grad_scale),
                          .lr = static_cast<float>(lr),
                          .beta1 = static_cast<float>(options_.beta1),
                          .beta2 = static_cast<float>(options_.beta2),
                          .eps = static_cast<float>(options_.eps),
                          .weight_decay = static_cast<float>(weight_decay),
                          .correction1 = static_cast<float>(1.0 - std::pow(options_.beta1, steps)),
                          .correction2 = static_cast<float>(1.0 - std::pow(options_.beta2, steps))});
  }
}

void AdamW::zero_grad() {
  for (const Slot& slot : slots_) slot.parameter.set_grad({});
}

std::map<std::string, Tensor> AdamW::state_dict() const {
  std::map<std::string, Tensor> result;
  const Tensor steps = Tensor::empty({}, DType::kI64);
  *steps.data<std::int64_t>() = num_steps_;
  result.emplace(kStep, steps);
  for (const Slot& slot : slots_) {
    result.emplace(slot.name + ".m", slot.m);
    result.emplace(slot.name + ".v", slot.v);
  }
  return result;
}

void AdamW::load_state_dict(const std::map<std::string, Tensor>& values) {
  const std::map<std::string, Tensor> own = state_dict();
  const std::vector<std::pair<std::string, Tensor>> expected(own.begin(), own.end());
  check_names("AdamW: load_state_dict", expected, values);
  const Tensor& steps = values.at(kStep);
  MT_CHECK_AS(DTypeError, steps.dtype() == DType::kI64, "AdamW: load_state_dict: expected 'step' of dtype i64, got {}",
              name_of(steps.dtype()));
  MT_CHECK(steps.data<std::int64_t>()[0] >= 0, "AdamW: load_state_dict: expected a step of at least 0, got {}",
           steps.data<std::int64_t>()[0]);
  num_steps_ = steps.data<std::int64_t>()[0];
  const NoGradGuard unrecorded;
  for (const Slot& slot : slots_) {
    slot.m.copy_(values.at(slot.name + ".m"));
    slot.v.copy_(values.at(slot.name + ".v"));
  }
}

}  // namespace minitorch::optim
