// Comparing tensors by name.
#include "minitorch/core/named_tensors.h"

#include <fmt/format.h>

#include <set>

#include "minitorch/base/check.h"

namespace minitorch {

void check_names(std::string_view who, std::span<const std::pair<std::string, Tensor>> expected,
                 const std::map<std::string, Tensor>& values) {
  std::string problems;
  const auto add = [&problems](const std::string& problem) { problems += (problems.empty() ? "" : "; ") + problem; };
  std::set<std::string_view> known;
  for (const auto& [name, tensor] : expected) {
    known.insert(name);
    const auto found = values.find(name);
    if (found == values.end() || !found->second.defined()) {
      add(fmt::format("'{}' is missing", name));
    } else if (found->second.shape() != tensor.shape()) {
      add(fmt::format("'{}' has shape {} instead of {}", name, to_string(found->second.shape()),
                      to_string(tensor.shape())));
    }
  }
  for (const auto& [name, tensor] : values) {
    if (!known.contains(name)) add(fmt::format("'{}' is unexpected", name));
  }
  MT_CHECK(problems.empty(), "{}: expected the names and shapes of its state_dict, got differences: {}", who, problems);
}

}  // namespace minitorch
