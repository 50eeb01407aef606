// cross_entropy against targets and against a teacher's probabilities.
#include <vector>

#include "minitorch/autograd/record.h"
#include "minitorch/ops/fused.h"
#include "minitorch/ops/index.h"
#include "minitorch/ops/op_support.h"
#include "minitorch/ops/operators.h"
#include "minitorch/ops/pointwise.h"
#include "minitorch/ops/reduce.h"

namespace minitorch::ops {
namespace {

using autograd::InputGradients;
using autograd::record;

void check_logits(std::string_view op, const Tensor& logits) {
  check_float(op, "logits", logits);
  check_num_dims(op, "logits", logits, 2);
}

// Number of rows that count.
std::int64_t check_targets(std::span<const std::int32_t> targets, const Tensor& logits) {
  MT_CHECK_AS(ShapeError, static_cast<std::int64_t>(targets.size()) == logits.size(0),
              "cross_entropy: expected {} targets for logits {}, got {}", logits.size(0), to_string(logits.shape()),
              targets.size());
  std::int64_t count = 0;
  for (const std::int32_t target : targets) {
    MT_CHECK(target < logits.size(1), "cross_entropy: expected targets below {}, got {}", logits.size(1), target);
    if (target >= 0) ++count;
  }
  MT_CHECK(count > 0, "cross_entropy: expected at least one target that counts, got {} negative ones", targets.size());
  return count;
}

// What the plain forms need of the targets, [M, 1] each: the class, 0 where the row does not count, and 1 or 0 for
// rows that do or do not.
struct Classes {
  Tensor index, counts;

  // x [M, ...] where the row counts, 0 elsewhere, whatever x holds there.
  [[nodiscard]] Tensor only_counting(const Tensor& x) const {
    return where(gt(counts, 0.0), x, Tensor::zeros({1, 1}, x.dtype()));
  }
};
Classes classes_of(std::span<const std::int32_t> targets, DType dtype) {
  std::vector<std::int64_t> index;
  std::vector<double> counts;
  for (const std::int32_t target : targets) {
    index.push_back(target >= 0 ? target : 0);
    counts.push_back(target >= 0 ? 1.0 : 0.0);
  }
  const Shape shape{static_cast<std::int64_t>(targets.size()), 1};
  return {.index = Tensor::from(index, shape), .counts = Tensor::from(counts, shape).to(dtype)};
}

// The logits with the rows' logarithms of sums, and where the gradient goes.
struct SavedLoss {
  Tensor logits;
  Tensor targets;  // i32
  Tensor log_sum;
  double share = 0.0;  // of one row in the mean
};

Tensor cross_entropy_kernel(const SavedLoss& saved) {
  const NoGradGuard unrecorded;
  const Tensor rows = as_rows(saved.logits);
  const Tensor losses = Tensor::empty({rows.size(0)});
  table().cross_entropy(context(), {.logits = rows.data<float>(),
                                    .logits_stride = rows.strides()[0],
                                    .targets = saved.targets.data<std::int32_t>(),
                                    .loss = losses.data<float>(),
                                    .log_sum = saved.log_sum.data<float>(),
                                    .rows = rows.size(0),
                                    .cols = rows.size(1)});
  Tensor loss = sum(losses);  // rows that do not count are 0
  mul_(loss, saved.share);
  return loss;
}

Tensor cross_entropy_backward_kernel(const Tensor& dy, const SavedLoss& saved) {
  const Tensor rows = as_rows(saved.logits);
  const Tensor scale = mul(dy, saved.share).expand({rows.size(0)}).contiguous();
  Tensor dlogits = Tensor::empty(saved.logits.shape());
  table().cross_entropy_backward(context(), {.logits = rows.data<float>(),
                                             .logits_stride = rows.strides()[0],
                                             .targets = saved.targets.data<std::int32_t>(),
                                             .log_sum = saved.log_sum.data<float>(),
                                             .scale = scale.data<float>(),
                                             .dlogits = dlogits.data<float>(),
                                             .dlogits_stride = rows.size(1),
                                             .rows = rows.size(0),
                                             .cols = rows.size(1)});
  return dlogits;
}

// The kernel's formula in plain ops.
Tensor cross_entropy_gradient(const Tensor& dy, const SavedLoss& saved) {
  const std::span targets(saved.targets.data<std::int32_t>(), static_cast<std::size_t>(saved.targets.numel()));
  const Classes classes = classes_of(targets, dy.dtype());
  const Tensor one_hot = scatter_add(classes.counts, 1, classes.index, saved.logits.size(1));
  return (classes.only_counting(softmax(saved.logits)) - one_hot) * (dy * saved.share);
}

// The mean over rows of -sum p ln softmax.
Tensor soft_cross_entropy_composite(const Tensor& logits, const Tensor& probabilities) {
  return sum(log_softmax(logits) * probabilities) * (-1.0 / static_cast<double>(logits.size(0)));
}

// (softmax - p) / M; a row of p sums to 1.
Tensor soft_cross_entropy_gradient(const Tensor& dy, const Tensor& logits, const Tensor& probabilities) {
  const double share = 1.0 / static_cast<double>(logits.size(0));
  if (grad_enabled()) return (softmax(logits) - probabilities) * (dy * share);
  const Tensor difference = softmax(logits) - probabilities;
  mul_(difference, share * dy.item());
  return difference;
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, std::span<const std::int32_t> targets) {
  check_logits("cross_entropy", logits);
  const double share = 1.0 / static_cast<double>(check_targets(targets, logits));
  if (logits.dtype() == DType::kF64) {
    const Classes classes = classes_of(targets, logits.dtype());
    return sum(classes.only_counting(gather(log_softmax(classes.only_counting(logits)), 1, classes.index))) * (-share);
  }
  const SavedLoss saved{.logits = logits,
                        .targets = Tensor::from(targets, {logits.size(0)}),
                        .log_sum = Tensor::empty({logits.size(0)}),
                        .share = share};
  Tensor loss = cross_entropy_kernel(saved);
  record(loss, "cross_entropy", {&logits}, [&] {
    return [saved](const Tensor& dy, InputGradients& inputs) {
      inputs.set(0, (grad_enabled() ? cross_entropy_gradient : cross_entropy_backward_kernel)(dy, saved));
    };
  });
  return loss;
}

Tensor soft_cross_entropy(const Tensor& logits, const Tensor& probabilities) {
  check_logits("soft_cross_entropy", logits);
  check_dtype("soft_cross_entropy", "probabilities", probabilities, logits.dtype());
  check_shape("soft_cross_entropy", "probabilities", probabilities, logits.shape());
  check_constant("soft_cross_entropy", "probabilities", probabilities);
  MT_CHECK_AS(ShapeError, logits.numel() > 0, "soft_cross_entropy: expected at least one row, got {}",
              to_string(logits.shape()));
  if (logits.dtype() == DType::kF64) return soft_cross_entropy_composite(logits, probabilities);
  Tensor loss;
  {
    const NoGradGuard unrecorded;
    loss = soft_cross_entropy_composite(logits, probabilities);
  }
  record(loss, "soft_cross_entropy", {&logits}, [&] {
    return [logits, probabilities](const Tensor& dy, InputGradients& inputs) {
      inputs.set(0, soft_cross_entropy_gradient(dy, logits, probabilities));
    };
  });
  return loss;
}

}  // namespace minitorch::ops
