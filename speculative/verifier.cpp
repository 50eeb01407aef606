// TargetRows: from nodes to the rows of the outputs.
#include "speculative/verifier.h"

#include "minitorch/base/check.h"

namespace minitorch::spec {

std::int32_t TargetRows::argmax_behind(std::int32_t node) const {
  const auto row = static_cast<std::size_t>(first_row_ + node + 1);
  MT_CHECK(row < outputs_.argmax.size() && outputs_.argmax[row] >= 0, "verifier: the target gave no argmax for row {}",
           row);
  return outputs_.argmax[row];
}

Distribution& TargetRows::distribution_behind(std::int32_t node) const {
  distribution(outputs_.logits_of(first_row_ + node + 1), sampling_, buffer_);
  return buffer_;
}

}  // namespace minitorch::spec
