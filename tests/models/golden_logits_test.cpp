// Logits of small random-weight checkpoints of both architectures against those of the Hugging Face implementation
// (scripts/make_golden_logits.py made both).
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>  // std::abs
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "kernels/kernel_table.h"
#include "minitorch/base/thread_pool.h"
#include "minitorch/io/json.h"
#include "minitorch/io/npy.h"
#include "models/load.h"
#include "tests/support/data.h"

namespace minitorch::test {
namespace {

namespace fs = std::filesystem;
using models::Batch;
using models::CausalLM;
using models::KVCache;
using models::Outputs;
using models::Want;

struct Golden {
  std::vector<std::int32_t> ids;
  Tensor logits;  // [positions, V]
};

Golden read_golden(const fs::path& folder) {
  return {io::read_json(folder / "golden_ids.json").get<std::vector<std::int32_t>>(),
          io::read_npy(folder / "golden_logits.npy")};
}

Outputs logits_of(CausalLM& model, const std::vector<std::int32_t>& ids) {
  KVCache cache = model.make_cache(model.max_context());
  Batch batch;
  batch.caches = {&cache};
  batch.add_chain(0, ids);
  Outputs outputs;
  outputs.want.assign(ids.size(), Want::kLogits);
  model.forward(batch, outputs);
  return outputs;
}

// The largest difference over all rows, each relative to the row's largest golden logit.
double relative_error(const Outputs& outputs, const Golden& golden) {
  const std::int64_t rows = golden.logits.size(0);
  const std::int64_t cols = golden.logits.size(1);
  const float* expected = golden.logits.data<float>();
  double worst = 0.0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto logits = outputs.logits_of(static_cast<std::int32_t>(row));
    double difference = 0.0;
    double largest = 0.0;
    for (std::int64_t col = 0; col < cols; ++col) {
      const double golden_logit = expected[row * cols + col];
      difference = std::max(difference, std::abs(logits[static_cast<std::size_t>(col)] - golden_logit));
      largest = std::max(largest, std::abs(golden_logit));
    }
    worst = std::max(worst, difference / largest);
  }
  return worst;
}

std::vector<const kernels::KernelTable*> all_tables() {
  std::vector<const kernels::KernelTable*> tables{&kernels::reference_table()};
  tables.insert(tables.end(), kernels::cpu_tables().begin(), kernels::cpu_tables().end());
  return tables;
}

const std::vector<std::string>& checkpoints() {
  static const std::vector<std::string> names{"qwen2_odd",    "qwen2_window_off", "qwen2_bf16_sharded", "llama_tied",
                                              "llama_biases", "llama3_rope_old",  "llama3_rope_new",    "llama_f16"};
  return names;
}

TEST_CASE("logits of every checkpoint equal those of the Hugging Face implementation on every table") {
  for (const std::string& name : checkpoints()) {
    const fs::path folder = golden_file("models/" + name);
    const Golden golden = read_golden(folder);
    for (const kernels::KernelTable* table : all_tables()) {
      for (const int threads : {1, 3}) {
        CAPTURE(name);
        CAPTURE(table->name);
        CAPTURE(threads);
        ThreadPool pool(threads);
        // The cache in f32, because a bf16 cache rounds keys and values; bf16 weights are exact as they are.
        const auto model = models::load_causal_lm(folder, Runtime{table, &pool}, {.cache_dtype = DType::kF32});
        REQUIRE(model->vocab_size() == golden.logits.size(1));
        CHECK(relative_error(logits_of(*model, golden.ids), golden) <= 1e-4);
      }
    }
  }
}

TEST_CASE("f16 and bf16 weights held in f32 give the same logits") {
  ThreadPool pool(1);
  for (const char* name : {"llama_f16", "qwen2_bf16_sharded"}) {
    CAPTURE(name);
    const fs::path folder = golden_file(std::string("models/") + name);
    const Golden golden = read_golden(folder);
    const auto model = models::load_causal_lm(folder, Runtime{&kernels::best_cpu_table(), &pool},
                                              {.dtype = models::WeightDType::kF32, .cache_dtype = DType::kF32});
    CHECK(relative_error(logits_of(*model, golden.ids), golden) <= 1e-4);
  }
}

TEST_CASE("the comparison notices a wrong weight, and f32 weights held in bf16 or int8 are close but not equal") {
  ThreadPool pool(1);
  const Runtime runtime{&kernels::best_cpu_table(), &pool};
  const fs::path folder = golden_file("models/qwen2_odd");
  Golden golden = read_golden(folder);
  for (const auto dtype : {models::WeightDType::kBF16, models::WeightDType::kInt8}) {
    CAPTURE(static_cast<int>(dtype));
    const auto rounded = models::load_causal_lm(folder, runtime, {.dtype = dtype});
    const double error = relative_error(logits_of(*rounded, golden.ids), golden);
    CHECK(error > 1e-4);
    CHECK(error < 0.1);
  }
  golden.ids[3] = (golden.ids[3] + 1) % 97;
  const auto exact = models::load_causal_lm(folder, runtime);
  CHECK(relative_error(logits_of(*exact, golden.ids), golden) > 0.1);
}

TEST_CASE("keys about a window that is switched off change no bit of the logits (case B24)") {
  ThreadPool pool(1);
  const Runtime runtime{&kernels::best_cpu_table(), &pool};
  const fs::path folder = golden_file("models/qwen2_window_off");
  const Golden golden = read_golden(folder);
  REQUIRE(golden.ids.size() == 24);
  const TemporaryFolder plain;
  nlohmann::json config = io::read_json(folder / "config.json");
  REQUIRE(config["sliding_window"] == 8);
  for (const char* key : {"sliding_window", "use_sliding_window", "max_window_layers", "layer_types"})
    config.erase(key);
  write_file(plain.path() / "config.json", config.dump());
  fs::copy(folder / "model.safetensors", plain.path());
  const Outputs with_keys = logits_of(*models::load_causal_lm(folder, runtime), golden.ids);
  const Outputs without_keys = logits_of(*models::load_causal_lm(plain.path(), runtime), golden.ids);
  for (std::int32_t row = 0; row < 24; ++row) {
    const auto a = with_keys.logits_of(row);
    const auto b = without_keys.logits_of(row);
    CHECK(std::equal(a.begin(), a.end(), b.begin(), b.end()));
  }
}

}  // namespace
}  // namespace minitorch::test
