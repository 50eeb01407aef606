// Loading tensors by name: comparing what was given with what is expected. Private to modules and optimizers.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "minitorch/core/tensor.h"

namespace minitorch {

// Throws Error that lists every expected name that `values` lacks, every other name, and every wrong shape; `who`
// begins the message.
void check_names(std::string_view who, std::span<const std::pair<std::string, Tensor>> expected,
                 const std::map<std::string, Tensor>& values);

}  // namespace minitorch
