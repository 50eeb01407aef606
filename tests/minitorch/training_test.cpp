// A small decoder trained from end to end: the loss falls, threads do not matter, and memory is reused.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "minitorch/autograd/node.h"
#include "minitorch/core/execution_scope.h"
#include "minitorch/nn/init.h"
#include "minitorch/nn/layers.h"
#include "minitorch/ops/fused.h"
#include "minitorch/ops/matmul.h"
#include "minitorch/ops/operators.h"
#include "minitorch/optim/adamw.h"
#include "tests/minitorch/gradient_support.h"

namespace minitorch {
namespace {

using test::Values;

constexpr std::int64_t kVocab = 29;
constexpr std::int64_t kWidth = 24;
constexpr std::int64_t kHeadDim = 6;
constexpr ops::AttentionHeads kHeads{.heads = 4, .kv_heads = 2, .head_dim = kHeadDim};
constexpr std::int64_t kQkvWidth = 8 * kHeadDim;
constexpr std::int64_t kHidden = 40;

// One decoder layer between an embedding and a head.
class TinyDecoder final : public nn::Module {
 public:
  explicit TinyDecoder(PhiloxStream& random)
      : embedding_(kVocab, kWidth, random),
        attention_norm_(kWidth),
        qkv_(kWidth, kQkvWidth, random),
        out_(kWidth, kWidth, random, /*with_bias=*/false),
        mlp_norm_(kWidth),
        gate_up_(kWidth, 2 * kHidden, random, /*with_bias=*/false),
        down_(kHidden, kWidth, random, /*with_bias=*/false),
        head_(kWidth, kVocab, random, /*with_bias=*/false) {
    register_module("embedding", embedding_);
    register_module("attention_norm", attention_norm_);
    register_module("qkv", qkv_);
    register_module("out", out_);
    register_module("mlp_norm", mlp_norm_);
    register_module("gate_up", gate_up_);
    register_module("down", down_);
    register_module("head", head_);
  }

  [[nodiscard]] Tensor loss(std::span<const std::int32_t> ids, std::span<const std::int32_t> targets,
                            std::span<const std::int32_t> begins) const {
    const Tensor angles =
        Tensor::arange(static_cast<std::int64_t>(ids.size())).unsqueeze(1) * (Tensor::arange(kHeadDim / 2) * 0.3 + 0.1);
    Tensor x = embedding_.forward(ids);
    Tensor qkv = ops::rope(qkv_.forward(attention_norm_.forward(x)), 6, ops::cos(angles), ops::sin(angles));
    x = ops::linear(ops::causal_attention(qkv, begins, kHeads), out_.weight(), {}, x);
    const Tensor hidden = ops::silu_mul(gate_up_.forward(mlp_norm_.forward(x)));
    x = ops::linear(hidden, down_.weight(), {}, x);
    return ops::cross_entropy(head_.forward(x), targets);
  }

 private:
  [[nodiscard]] std::string_view kind() const override { return "TinyDecoder"; }
  nn::Embedding embedding_;
  nn::RMSNorm attention_norm_;
  nn::Linear qkv_, out_;
  nn::RMSNorm mlp_norm_;
  nn::Linear gate_up_, down_, head_;
};

struct Trainer {
  PhiloxStream random{11};
  TinyDecoder model{random};
  optim::AdamW optimizer{model.named_parameters(), {.weight_decay = 0.01}};

  // Two sequences in which every id is followed by three more than it.
  double step() {
    std::vector<std::int32_t> ids;
    std::vector<std::int32_t> targets;
    for (std::int32_t i = 0; i < 70; ++i) {
      ids.push_back(static_cast<std::int32_t>((i * 3) % kVocab));
      targets.push_back(static_cast<std::int32_t>((i * 3 + 3) % kVocab));
    }
    const std::vector<std::int32_t> begins{0, 33, 70};
    const Tensor loss = model.loss(ids, targets, begins);
    loss.backward();
    const double norm = optim::grad_norm(model.parameters());
    optimizer.step(0.01, optim::clip_factor(norm, 1.0));
    optimizer.zero_grad();  // before the next forward pass needs the memory
    return loss.item();
  }
};

TEST_CASE("a small decoder learns a rule") {
  const std::int64_t nodes = autograd::live_nodes();
  Trainer trainer;
  const double before = trainer.step();
  CHECK(before == doctest::Approx(std::log(kVocab)).epsilon(0.2));
  double after = before;
  for (int step = 0; step < 60; ++step) after = trainer.step();
  CHECK(after < 0.1);
  CHECK(autograd::live_nodes() == nodes);
}

TEST_CASE("training gives the same bits on any number of threads") {
  const auto train = [](int threads) {
    ThreadPool pool(threads);
    const ExecutionScope scope({.runtime = {.threads = &pool}});
    Trainer trainer;
    Values result;
    for (int step = 0; step < 3; ++step) result.push_back(trainer.step());
    for (const Tensor& parameter : trainer.model.parameters()) {
      const Values values = parameter.to_vector();
      result.insert(result.end(), values.begin(), values.end());
    }
    return result;
  };
  const Values alone = train(1);
  for (const int threads : {2, 3, 4}) {
    CAPTURE(threads);
    CHECK(train(threads) == alone);
  }
}

TEST_CASE("after its first step training takes no new memory from the system") {
  MemoryPool pool;
  const ExecutionScope scope({.memory = &pool});
  Trainer trainer;
  (void)trainer.step();
  const std::int64_t taken = pool.stats().system_allocations;
  const std::int64_t requests = pool.stats().allocations;
  for (int step = 0; step < 5; ++step) (void)trainer.step();
  CHECK(pool.stats().system_allocations == taken);
  CHECK(pool.stats().allocations > requests);
}

}  // namespace
}  // namespace minitorch
