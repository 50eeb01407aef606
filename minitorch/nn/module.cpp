// The tree of modules: names, state, printing.
#include "minitorch/nn/module.h"

#include <fmt/format.h>

#include <algorithm>

#include "minitorch/base/check.h"
#include "minitorch/core/execution_scope.h"
#include "minitorch/core/named_tensors.h"

namespace minitorch::nn {
namespace {

template <typename T>
bool has_name(const std::vector<std::pair<std::string, T>>& items, const std::string& name) {
  return std::any_of(items.begin(), items.end(), [&](const auto& item) { return item.first == name; });
}

}  // namespace

std::vector<std::pair<std::string, Tensor>> Module::named_parameters() const {
  std::vector<std::pair<std::string, Tensor>> result = own_parameters_;
  for (const auto& [name, child] : children_) {
    for (auto& [inner, tensor] : child->named_parameters()) result.emplace_back(name + "." + inner, std::move(tensor));
  }
  return result;
}

std::vector<Tensor> Module::parameters() const {
  std::vector<Tensor> result;
  for (auto& [name, tensor] : named_parameters()) result.push_back(std::move(tensor));
  return result;
}

std::int64_t Module::num_parameters() const {
  std::int64_t total = 0;
  for (const Tensor& parameter : parameters()) total += parameter.numel();
  return total;
}

std::map<std::string, Tensor> Module::state_dict() const {
  std::map<std::string, Tensor> result;
  for (const auto& [name, tensor] : named_parameters()) result.emplace(name, tensor.detach());
  return result;
}

void Module::load_state_dict(const std::map<std::string, Tensor>& values) {
  const auto parameters = named_parameters();
  check_names("load_state_dict", parameters, values);
  const NoGradGuard unrecorded;
  for (const auto& [name, tensor] : parameters) tensor.copy_(values.at(name));
}

void Module::train(bool on) {
  training_ = on;
  for (const auto& [name, child] : children_) child->train(on);
}

void Module::zero_grad() {
  for (const Tensor& parameter : parameters()) parameter.set_grad({});
}

Tensor Module::register_parameter(std::string name, const Tensor& value) {
  MT_CHECK(!name.empty() && !has_name(own_parameters_, name) && !has_name(children_, name),
           "register_parameter: expected a new name, got '{}'", name);
  value.requires_grad_();
  own_parameters_.emplace_back(std::move(name), value);
  return value;
}

void Module::register_module(std::string name, Module& child) {
  MT_CHECK(!name.empty() && !has_name(own_parameters_, name) && !has_name(children_, name),
           "register_module: expected a new name, got '{}'", name);
  children_.emplace_back(std::move(name), &child);
}

std::string to_string(const Module& module) {
  std::string lines = fmt::format("{}({}): {} parameters", module.kind(), module.describe(), module.num_parameters());
  for (const auto& [name, child] : module.children_) {
    lines += fmt::format("\n  {}: ", name);
    for (const char letter : to_string(*child)) lines += letter == '\n' ? std::string("\n  ") : std::string(1, letter);
  }
  return lines;
}

}  // namespace minitorch::nn
