// stories260K, a real trained model: its logits and greedy texts against the recorded ones.
#include <algorithm>
#include <cmath>  // std::abs
#include <cstring>

#include "minitorch/base/thread_pool.h"
#include "minitorch/io/json.h"
#include "models/causal_lm.h"
#include "models/load.h"
#include "tests/support/data.h"
#include "tests/support/emulation.h"

namespace minitorch::test {
namespace {

namespace fs = std::filesystem;
using models::Batch;
using models::CausalLM;
using models::KVCache;
using models::Outputs;
using models::Want;
using Ids = std::vector<std::int32_t>;

fs::path folder() { return data_folder() / "models/stories260K"; }

std::vector<const kernels::KernelTable*> all_tables() {
  std::vector<const kernels::KernelTable*> tables{&kernels::reference_table()};
  tables.insert(tables.end(), kernels::cpu_tables().begin(), kernels::cpu_tables().end());
  return tables;
}

// Plain greedy decoding, one token per pass.
Ids greedy(CausalLM& model, const Ids& prompt, std::size_t count) {
  KVCache cache = model.make_cache(model.max_context());
  Outputs outputs;
  Ids next = prompt;
  Ids generated;
  while (generated.size() < count) {
    Batch batch;
    batch.caches = {&cache};
    batch.add_chain(0, next);
    outputs.want.assign(next.size(), Want::kNone);
    outputs.want.back() = Want::kArgmax;
    model.forward(batch, outputs);
    cache.keep_chain();
    next = {outputs.argmax.back()};
    generated.push_back(next[0]);
  }
  return generated;
}

TEST_CASE("stories260K: the first logits are within 1e-4 of the recorded ones on every table") {
  MT_REQUIRE_DATA("models/stories260K/logits_first3.f32.bin");
  const std::string bytes = io::read_file(folder() / "logits_first3.f32.bin");
  std::vector<float> golden(bytes.size() / sizeof(float));
  std::memcpy(golden.data(), bytes.data(), bytes.size());
  REQUIRE(golden.size() == 3 * 512);
  ThreadPool threads(2);
  for (const kernels::KernelTable* table : all_tables()) {
    CAPTURE(table->name);
    const auto model = models::load_causal_lm(folder(), Runtime{table, &threads});
    REQUIRE(model->vocab_size() == 512);
    KVCache cache = model->make_cache(8);
    Batch batch;
    batch.caches = {&cache};
    batch.add_chain(0, Ids{1, 403, 407});
    Outputs outputs;
    outputs.want.assign(3, Want::kLogits);
    model->forward(batch, outputs);
    double difference = 0.0;
    for (std::int32_t row = 0; row < 3; ++row) {
      const auto logits = outputs.logits_of(row);
      for (std::size_t id = 0; id < 512; ++id) {
        difference = std::max(
            difference, std::abs(static_cast<double>(logits[id]) - golden[static_cast<std::size_t>(row) * 512 + id]));
      }
    }
    CHECK(difference <= 1e-4);
  }
}

// The first of the recorded ids: all of them, in emulation 16.
Ids checked_ids(Ids recorded) {
  if (emulated()) recorded.resize(16);
  return recorded;
}

TEST_CASE("stories260K: greedy decoding gives the recorded 64 ids on every table") {
  MT_REQUIRE_DATA("models/stories260K/golden.json");
  const nlohmann::json golden = io::read_json(folder() / "golden.json");
  REQUIRE(golden["new_ids"].size() == 64);
  const Ids expected = checked_ids(golden["new_ids"].get<Ids>());
  ThreadPool threads(2);
  for (const kernels::KernelTable* table : all_tables()) {
    CAPTURE(table->name);
    const auto model = models::load_causal_lm(folder(), Runtime{table, &threads});
    CHECK(greedy(*model, golden["prompt_ids"].get<Ids>(), expected.size()) == expected);
  }
}

TEST_CASE("stories260K: greedy decoding from the begin token alone gives the recorded 256 ids") {
  MT_REQUIRE_DATA("models/stories260K/golden_256.json");
  const nlohmann::json golden = io::read_json(folder() / "golden_256.json");
  const auto prompt = golden["start_ids"].get<Ids>();
  auto expected = golden["ids"].get<Ids>();
  expected.erase(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(prompt.size()));
  REQUIRE(expected.size() == 256);
  expected = checked_ids(expected);
  ThreadPool threads(2);
  const auto model = models::load_causal_lm(folder(), Runtime{&kernels::best_cpu_table(), &threads});
  CHECK(greedy(*model, prompt, expected.size()) == expected);
}

TEST_CASE("stories260K: a model with its tokenizer masks no id, for every id has a token") {
  MT_REQUIRE_DATA("models/stories260K/tokenizer.json");
  ThreadPool threads(1);
  const models::LoadedModel loaded = models::load_model(folder(), Runtime{&kernels::best_cpu_table(), &threads});
  CHECK(loaded.config.eos_token_ids == Ids{1, 2});
  CHECK(loaded.tokenizer.size() == 512);
  CHECK(loaded.model->valid_ids().limit == 512);
  CHECK(loaded.model->valid_ids().holes.empty());
}

}  // namespace
}  // namespace minitorch::test
