// Module: a tree of named parameters, as in PyTorch's nn.Module.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "minitorch/core/tensor.h"

namespace minitorch::nn {

class Module {
 public:
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // Parameters of this module and its children, "child.weight", in the order of registration.
  [[nodiscard]] std::vector<std::pair<std::string, Tensor>> named_parameters() const;
  [[nodiscard]] std::vector<Tensor> parameters() const;
  [[nodiscard]] std::int64_t num_parameters() const;

  // The parameters by name, sharing their memory (detached).
  [[nodiscard]] std::map<std::string, Tensor> state_dict() const;
  // Copies values (converted to the parameters' dtype) into the parameters. Throws Error that lists missing and
  // unexpected names and wrong shapes; nothing is changed then.
  void load_state_dict(const std::map<std::string, Tensor>& values);

  void train(bool on = true);  // this module and its children
  void eval() { train(false); }
  [[nodiscard]] bool is_training() const { return training_; }

  // Lets go of all gradients.
  void zero_grad();

 protected:
  Module() = default;
  // Makes `value` a parameter that requires a gradient and returns it. Names are unique within a module and hold no dot
  // except where the module mirrors another library's names.
  Tensor register_parameter(std::string name, const Tensor& value);
  // `child` outlives this module (it is a member).
  void register_module(std::string name, Module& child);
  // What stands between the brackets of the printed module: "in=3, out=4".
  [[nodiscard]] virtual std::string describe() const { return ""; }
  [[nodiscard]] virtual std::string_view kind() const = 0;  // "Linear"

 private:
  friend std::string to_string(const Module& module);

  std::vector<std::pair<std::string, Tensor>> own_parameters_;
  std::vector<std::pair<std::string, Module*>> children_;
  bool training_ = true;
};

// One line per module, children indented, with the number of parameters at the end.
[[nodiscard]] std::string to_string(const Module& module);

}  // namespace minitorch::nn
