// The training loop of the tiny pair: reproducible, resumable, independent of threads.
#include "examples/train_tiny_r1/trainer.h"

#include <doctest/doctest.h>

#include <atomic>
#include <map>
#include <vector>

#include "examples/train_tiny_r1/build_tokenizer.h"
#include "kernels/kernel_table.h"
#include "minitorch/base/error.h"
#include "minitorch/ops/fused.h"
#include "tests/support/data.h"

namespace minitorch::test {
namespace {

using namespace train_tiny_r1;

models::ModelConfig small_config(const models::Tokenizer& tokenizer) {
  models::ModelConfig config;
  config.architecture = "Qwen2ForCausalLM";
  config.vocab_size = tokenizer.size();
  config.hidden_size = 32;
  config.num_layers = 1;
  config.num_heads = 2;
  config.num_kv_heads = 1;
  config.head_dim = 16;
  config.intermediate_size = 48;
  config.max_position_embeddings = 1024;
  config.tie_word_embeddings = true;
  config.qkv_bias = true;
  return config;
}

// A tokenizer made once: it is the slow part.
const models::Tokenizer& tokenizer() {
  static const TemporaryFolder folder;
  static const models::Tokenizer made = [] {
    build_tokenizer(folder.path(), 3, 400);
    return models::Tokenizer::from_directory(folder.path());
  }();
  return made;
}

struct Run {
  std::vector<double> losses;
  std::map<std::string, std::vector<double>> weights;
  bool finished = false;
};

Run run_training(const TrainOptions& options, int num_threads = 1) {
  ThreadPool threads(num_threads);
  const ExecutionScope scope({.runtime = {.table = &kernels::best_cpu_table(), .threads = &threads}});
  models::TrainableDecoder model(small_config(tokenizer()), 11);
  const Batches batches(tokenizer(), 4, 300);
  const Loss loss = [&](const Batch& batch) {
    return ops::cross_entropy(model.forward(batch.tokens, batch.begins), batch.targets);
  };
  const std::atomic<bool> never{false};
  Run run;
  run.finished =
      train(model, batches, loss, options, never, [&](const StepReport& report) { run.losses.push_back(report.loss); });
  for (const auto& [name, tensor] : model.state_dict()) run.weights[name] = tensor.to_vector();
  return run;
}

TrainOptions ten_steps() {
  TrainOptions options;
  options.steps = 10;
  options.warmup = 3;
  return options;
}

}  // namespace

TEST_CASE("stopping and resuming from a checkpoint gives the same weights as not stopping") {
  const Run whole = run_training(ten_steps());
  CHECK(whole.finished);
  REQUIRE(whole.losses.size() == 10);
  CHECK(whole.losses.back() < whole.losses.front());

  const TemporaryFolder folder;
  TrainOptions options = ten_steps();
  options.checkpoint = folder.path() / "checkpoint.safetensors";
  options.stop_after = 4;
  Run first = run_training(options);
  CHECK_FALSE(first.finished);
  Run second = run_training(options);
  CHECK_FALSE(second.finished);
  options.stop_after = INT64_MAX;
  const Run last = run_training(options);
  CHECK(last.finished);
  std::vector<double> losses = first.losses;
  losses.insert(losses.end(), second.losses.begin(), second.losses.end());
  losses.insert(losses.end(), last.losses.begin(), last.losses.end());
  CHECK(losses == whole.losses);
  CHECK(last.weights == whole.weights);
}

TEST_CASE("a checkpoint of another recipe is refused by name and stays as it is") {
  const TemporaryFolder folder;
  TrainOptions options = ten_steps();
  options.checkpoint = folder.path() / "checkpoint.safetensors";
  options.recipe = "seed 1";
  options.stop_after = 1;
  static_cast<void>(run_training(options));
  options.recipe = "seed 2";
  CHECK_THROWS_WITH_AS(static_cast<void>(run_training(options)), doctest::Contains("got one of another (seed 1)"),
                       Error);
  options.recipe = "seed 1";
  CHECK(run_training(options).losses.size() == 1);
}

TEST_CASE("training gives the same weights on any number of threads") {
  const Run one = run_training(ten_steps(), 1);
  for (const int threads : {2, 3, 4}) {
    CAPTURE(threads);
    const Run several = run_training(ten_steps(), threads);
    CHECK(several.losses == one.losses);
    CHECK(several.weights == one.weights);
  }
}

TEST_CASE("after the first step training takes no new memory from the system") {
  MemoryPool memory;
  const ExecutionScope scope({.memory = &memory});
  models::TrainableDecoder model(small_config(tokenizer()), 11);
  const Batches batches(tokenizer(), 4, 300);
  const Loss loss = [&](const Batch& batch) {
    return ops::cross_entropy(model.forward(batch.tokens, batch.begins), batch.targets);
  };
  const std::atomic<bool> never{false};
  std::vector<std::int64_t> taken;
  static_cast<void>(train(model, batches, loss, ten_steps(), never,
                          [&](const StepReport&) { taken.push_back(memory.stats().system_allocations); }));
  REQUIRE(taken.size() == 10);
  CHECK(taken.back() == taken.front());
}

TEST_CASE("a batch has all its rows, targets within problems, and is a pure function of seed and index") {
  const Batches batches(tokenizer(), 8, 500);
  const Batch batch = batches.at(3);
  CHECK(batch.tokens.size() == 500);
  REQUIRE(batch.targets.size() == 500);
  CHECK(batch.begins.front() == 0);
  CHECK(batch.begins.back() == 500);
  REQUIRE(batch.begins.size() > 3);
  for (std::size_t s = 0; s + 2 < batch.begins.size(); ++s) {
    const auto begin = static_cast<std::size_t>(batch.begins[s]);
    const auto end = static_cast<std::size_t>(batch.begins[s + 1]);
    CHECK(batch.targets[end - 1] == -1);
    for (std::size_t row = begin; row + 1 < end; ++row) CHECK(batch.targets[row] == batch.tokens[row + 1]);
  }
  CHECK(Batches(tokenizer(), 8, 500).at(3).tokens == batch.tokens);
  CHECK(batches.at(4).tokens != batch.tokens);
  CHECK(Batches(tokenizer(), 9, 500).at(3).tokens != batch.tokens);
}

}  // namespace minitorch::test
