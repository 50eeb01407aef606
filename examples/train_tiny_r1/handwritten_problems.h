// Problems written by hand in the forms of the generator, as a check from outside: one and two steps.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace minitorch::train_tiny_r1 {

struct HandwrittenProblem {
  std::string_view question;
  std::int64_t result = 0;
};

[[nodiscard]] std::span<const HandwrittenProblem> handwritten_problems();

}  // namespace minitorch::train_tiny_r1
