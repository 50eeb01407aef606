// TrainableDecoder: its forward pass is that of generation, it learns, and its weights survive the way to disk.
#include "models/trainable_decoder.h"

#include <doctest/doctest.h>

#include <cmath>  // std::abs, std::log
#include <cstring>
#include <vector>

#include "minitorch/autograd/node.h"
#include "minitorch/base/error.h"
#include "minitorch/base/philox.h"
#include "minitorch/ops/fused.h"
#include "minitorch/optim/adamw.h"
#include "models/load.h"
#include "models/save.h"
#include "tests/support/data.h"

namespace minitorch::test {
namespace {

models::ModelConfig small_config() {
  models::ModelConfig config;
  config.architecture = "Qwen2ForCausalLM";
  config.vocab_size = 61;
  config.hidden_size = 48;
  config.num_layers = 2;
  config.num_heads = 4;
  config.num_kv_heads = 2;
  config.head_dim = 16;
  config.intermediate_size = 72;
  config.max_position_embeddings = 128;
  config.tie_word_embeddings = true;
  config.qkv_bias = true;
  config.eos_token_ids = {0};
  return config;
}

std::vector<std::int32_t> random_tokens(std::size_t count, std::uint64_t seed) {
  PhiloxStream random(seed);
  std::vector<std::int32_t> tokens(count);
  for (std::int32_t& token : tokens) token = static_cast<std::int32_t>(random.below(61));
  return tokens;
}

Tensor generation_logits(models::CausalLM& model, std::span<const std::int32_t> tokens) {
  models::KVCache cache = model.make_cache(static_cast<std::int32_t>(tokens.size()));
  models::Batch batch;
  batch.caches = {&cache};
  batch.add_chain(0, tokens);
  models::Outputs outputs;
  outputs.want.assign(tokens.size(), models::Want::kLogits);
  model.forward(batch, outputs);
  return outputs.logits;
}

// Largest difference, as a share of the largest logit.
double difference(const Tensor& a, const Tensor& b) {
  const std::vector<double> left = a.to_vector();
  const std::vector<double> right = b.to_vector();
  REQUIRE(left.size() == right.size());
  double largest = 0.0, apart = 0.0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    largest = std::max(largest, std::abs(right[i]));
    apart = std::max(apart, std::abs(left[i] - right[i]));
  }
  return apart / largest;
}

}  // namespace

TEST_CASE("training and generation compute the same logits from the same weights") {
  const models::TrainableDecoder model(small_config(), 5);
  const auto frozen = model.freeze(default_runtime(), models::WeightDType::kF32);
  const auto first = random_tokens(70, 1);
  const auto second = random_tokens(33, 2);
  auto both = first;
  both.insert(both.end(), second.begin(), second.end());
  const NoGradGuard no_grad;
  const Tensor logits = model.forward(both, std::vector<std::int32_t>{0, 70, 103});
  CHECK(difference(logits.slice(0, {.start = 0, .stop = 70}), generation_logits(*frozen, first)) < 1e-5);
  CHECK(difference(logits.slice(0, {.start = 70, .stop = 103}), generation_logits(*frozen, second)) < 1e-5);
}

TEST_CASE("a few steps of AdamW teach the decoder a repeated sentence") {
  models::TrainableDecoder model(small_config(), 6);
  optim::AdamW optimizer(model.named_parameters(), {});
  const auto tokens = random_tokens(24, 3);
  std::vector<std::int32_t> targets(tokens.begin() + 1, tokens.end());
  targets.push_back(-1);
  double first = 0.0, last = 0.0;
  for (int step = 0; step < 60; ++step) {
    const Tensor loss = ops::cross_entropy(model.forward(tokens, std::vector<std::int32_t>{0, 24}), targets);
    last = loss.item();
    if (step == 0) first = last;
    loss.backward();
    optimizer.step(3e-3);
    optimizer.zero_grad();
  }
  CHECK(first == doctest::Approx(std::log(61.0)).epsilon(0.05));  // knows nothing yet
  CHECK(last < 0.3);
  CHECK(autograd::live_nodes() == 0);
}

TEST_CASE("every parameter of the decoder receives a gradient") {
  const models::TrainableDecoder model(small_config(), 7);
  const auto tokens = random_tokens(20, 4);
  ops::cross_entropy(model.forward(tokens, std::vector<std::int32_t>{0, 20}), tokens).backward();
  for (const auto& [name, parameter] : model.named_parameters()) {
    CAPTURE(name);
    REQUIRE(parameter.grad().defined());
    double sum = 0.0;
    for (const double value : parameter.grad().to_vector()) sum += std::abs(value);
    CHECK(sum > 0.0);
  }
}

TEST_CASE(
    "a saved decoder loads as a model folder with the same logits, and back into training with the same weights") {
  TemporaryFolder folder;
  models::ModelConfig config = small_config();
  config.dtype = DType::kF32;
  const models::TrainableDecoder model(config, 8);
  models::save_model(folder.path(), config, model.checkpoint_tensors(DType::kF32));
  const auto tokens = random_tokens(40, 9);
  const auto frozen = model.freeze(default_runtime(), models::WeightDType::kF32);
  const auto loaded = models::load_causal_lm(folder.path(), default_runtime());
  const Tensor expected = generation_logits(*frozen, tokens);
  const Tensor logits = generation_logits(*loaded, tokens);
  CHECK(std::memcmp(logits.data<float>(), expected.data<float>(), static_cast<std::size_t>(logits.numel()) * 4) == 0);

  models::TrainableDecoder again(config, 99);
  again.load_checkpoint_tensors(models::read_checkpoint_tensors(folder.path()));
  const auto before = model.state_dict();
  for (const auto& [name, tensor] : again.state_dict()) CHECK(tensor.to_vector() == before.at(name).to_vector());
}

TEST_CASE("loading weights of another shape into training names the tensor and changes nothing") {
  models::TrainableDecoder model(small_config(), 10);
  auto tensors = model.checkpoint_tensors(DType::kF32);
  tensors["model.norm.weight"] = Tensor::full({47}, 2.0);
  tensors["model.embed_tokens.weight"] = Tensor::full({61, 48}, 2.0);
  const auto before = model.state_dict().at("model.embed_tokens.weight").to_vector();
  CHECK_THROWS_WITH_AS(model.load_checkpoint_tensors(tensors), doctest::Contains("model.norm.weight"), ShapeError);
  CHECK(model.state_dict().at("model.embed_tokens.weight").to_vector() == before);
}

TEST_CASE("a batch whose sequences do not cover the rows is refused") {
  const models::TrainableDecoder model(small_config(), 11);
  const auto tokens = random_tokens(8, 5);
  CHECK_THROWS_AS(static_cast<void>(model.forward(tokens, std::vector<std::int32_t>{0, 7})), Error);
  CHECK_THROWS_AS(static_cast<void>(model.forward(tokens, std::vector<std::int32_t>{})), Error);
  CHECK_THROWS_AS(static_cast<void>(model.forward(tokens, std::vector<std::int32_t>{0, 6, 5, 8})), Error);
}

}  // namespace minitorch::test
