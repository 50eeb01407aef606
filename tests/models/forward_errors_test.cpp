// Forward passes that must fail: bad rows, caches and requests, NaN logits; the caches stay as they were.
#include <limits>
#include <map>

#include "minitorch/base/error.h"
#include "minitorch/base/thread_pool.h"
#include "minitorch/io/safetensors.h"
#include "models/causal_lm.h"
#include "models/load.h"
#include "tests/support/data.h"
#include "tests/support/random_model.h"

namespace minitorch::test {
namespace {

using models::Batch;
using models::BatchRow;
using models::CausalLM;
using models::KVCache;
using models::Outputs;
using models::Want;
using Ids = std::vector<std::int32_t>;

constexpr std::int32_t kRoot = KVCache::kRoot;
constexpr std::int32_t kVocab = 97;  // of RandomModelShape

const Runtime& runtime() {
  static ThreadPool threads(2);
  static const Runtime runtime{&kernels::best_cpu_table(), &threads};
  return runtime;
}

std::unique_ptr<CausalLM> make_model(const RandomModelShape& shape = {}) {
  return make_random_model(shape, /*seed=*/3, runtime());
}

Batch chain(KVCache& cache, const Ids& ids) {
  Batch batch;
  batch.caches = {&cache};
  batch.add_chain(0, ids);
  return batch;
}

std::vector<float> logits_of(const Outputs& outputs, std::int32_t row) {
  const auto logits = outputs.logits_of(row);
  return {logits.begin(), logits.end()};
}

// Logits of every row of a fresh chain.
std::vector<std::vector<float>> chain_logits(CausalLM& model, const Ids& ids) {
  KVCache cache = model.make_cache(64);
  Outputs outputs;
  outputs.want.assign(ids.size(), Want::kLogits);
  model.forward(chain(cache, ids), outputs);
  std::vector<std::vector<float>> rows;
  for (std::size_t i = 0; i < ids.size(); ++i) rows.push_back(logits_of(outputs, static_cast<std::int32_t>(i)));
  return rows;
}

// One batch that must be refused and the words of its message.
struct BadBatch {
  std::vector<BatchRow> rows;
  const char* words;
};

TEST_CASE("bad rows are refused with their number and reason, and the caches stay as they were") {
  const auto model = make_model({.max_position_embeddings = 40});
  KVCache caches[2] = {model->make_cache(8), model->make_cache(45)};
  Outputs outputs;
  Batch start;
  start.caches = {&caches[0], &caches[1]};
  start.add_chain(0, Ids{1, 2, 3});
  start.add_chain(1, Ids(39, 7));
  model->forward(start, outputs);
  caches[0].keep_chain();
  caches[1].keep_chain();
  const std::vector<BadBatch> all{
      {{{.token = 97, .position = 3}}, "row 0: expected a token below 97, got 97"},
      {{{.token = -1, .position = 3}}, "row 0: expected a token below 97, got -1"},
      {{{.token = 5, .position = 3}, {.token = 5, .position = 4, .parent = 0, .sequence = 2}}, "row 1: expected a seq"},
      {{{.token = 5, .position = 3}, {.token = 5, .position = 4, .parent = 0, .sequence = -1}},
       "row 1: expected a seq"},
      {{{.token = 5, .position = 3}, {.token = 6, .position = 4, .parent = 1}}, "row 1: expected a parent before it"},
      {{{.token = 5, .position = 3}, {.token = 6, .position = 4, .parent = -2}}, "row 1: expected a parent before it"},
      {{{.token = 5, .position = 3}, {.token = 6, .position = 40, .parent = 0, .sequence = 1}},
       "row 1 of sequence 1 has a parent in sequence 0"},
      {{{.token = 5, .position = 2}}, "row 0: expected position 3 behind its parent, got 2"},
      {{{.token = 5, .position = 3}, {.token = 6, .position = 3, .parent = 0}}, "row 1: expected position 4"},
      {{{.token = 5, .position = 39, .sequence = 1}, {.token = 6, .position = 40, .parent = 0, .sequence = 1}},
       "row 1 has position 40, but the context holds 40 tokens"},
      {std::vector<BatchRow>(6, {.token = 5, .position = 3}), "all 8 slots are taken (3 committed, 5 pending)"},
  };
  for (const BadBatch& bad : all) {
    CAPTURE(bad.words);
    Batch batch;
    batch.caches = {&caches[0], &caches[1]};
    batch.rows = bad.rows;
    CHECK_THROWS_WITH_AS(model->forward(batch, outputs), doctest::Contains(bad.words), Error);
    CHECK(caches[0].length() == 3);
    CHECK(caches[0].num_pending() == 0);
    CHECK(caches[1].length() == 39);
    CHECK(caches[1].num_pending() == 0);
  }
  outputs.want.assign(1, Want::kLogits);
  model->forward(chain(caches[0], {4}), outputs);
  CHECK(logits_of(outputs, 0) == chain_logits(*model, {1, 2, 3, 4}).back());
}

TEST_CASE("caches that do not belong to the batch are refused") {
  const auto model = make_model();
  const auto other = make_model({.num_layers = 3});
  Outputs outputs;
  KVCache cache = model->make_cache(16);
  const auto forward_with = [&](std::vector<KVCache*> caches) {
    Batch batch;
    batch.caches = std::move(caches);
    batch.rows = {{.token = 1, .position = 0}};
    model->forward(batch, outputs);
  };
  CHECK_THROWS_WITH_AS(forward_with({nullptr}), doctest::Contains("sequence 0 is null"), Error);
  CHECK_THROWS_WITH_AS(forward_with({&cache, &cache}), doctest::Contains("serves another sequence too"), Error);
  KVCache foreign = other->make_cache(16);
  CHECK_THROWS_WITH_AS(forward_with({&foreign}), doctest::Contains("made for another model"), Error);
  forward_with({&cache});
  CHECK_THROWS_WITH_AS(forward_with({&cache}), doctest::Contains("1 pending rows"), Error);
  CHECK(cache.num_pending() == 1);
  CHECK_THROWS_AS(static_cast<void>(model->make_cache(0)), Error);
}

TEST_CASE("requests that make no sense are refused") {
  const auto model = make_model();
  KVCache cache = model->make_cache(16);
  Outputs outputs;
  outputs.want.assign(3, Want::kNone);
  CHECK_THROWS_WITH_AS(model->forward(chain(cache, {1, 2}), outputs),
                       "forward: outputs of 3 rows are wanted, but the batch has 2", Error);
  outputs.want.assign(2, Want::kTopK);
  for (const std::int32_t k : {0, -1, kVocab + 1}) {
    outputs.top_k = k;
    CHECK_THROWS_WITH_AS(model->forward(chain(cache, {1, 2}), outputs),
                         doctest::Contains("expected top_k from 1 to 97"), Error);
  }
  CHECK(cache.num_pending() == 0);
  Batch batch;
  CHECK_THROWS_AS(batch.add(0, 1, kRoot), Error);
  batch.caches = {&cache};
  CHECK_THROWS_AS(batch.add(0, 1, 0), Error);
  CHECK_THROWS_AS(batch.add(-1, 1, kRoot), Error);
}

TEST_CASE("NaN logits are an error that names the row and its token, and do no harm to what follows") {
  const TemporaryFolder folder;
  write_random_checkpoint(folder.path(), {}, /*seed=*/3);
  const std::filesystem::path file = folder.path() / "model.safetensors";
  std::map<std::string, Tensor> tensors;
  {
    const io::SafetensorsFile stored(file);
    for (const auto& [name, entry] : stored.entries()) tensors[name] = stored.read(name);
  }
  const auto plain = models::load_causal_lm(folder.path(), runtime());
  float* embedding = tensors.at("model.embed_tokens.weight").data<float>();
  embedding[13 * 45 + 7] = std::numeric_limits<float>::quiet_NaN();  // of token 13
  io::write_safetensors(file, tensors);
  const auto model = models::load_causal_lm(folder.path(), runtime());

  KVCache cache = model->make_cache(64);
  Outputs outputs;
  outputs.want = {Want::kArgmax};
  model->forward(chain(cache, {1}), outputs);
  cache.keep_chain();
  for (const Want want : {Want::kArgmax, Want::kTopK, Want::kLogits}) {
    outputs.top_k = 3;
    outputs.want.assign(3, want);
    CHECK_THROWS_WITH_AS(model->forward(chain(cache, {2, 13, 4}), outputs),
                         "forward: the logits of row 1 (token 13 at position 2) hold a NaN: damaged weights?", Error);
    CHECK(cache.num_pending() == 0);
    CHECK(cache.length() == 1);
  }
  // The slots that held the NaN's keys and values are used again.
  outputs.want.assign(3, Want::kLogits);
  model->forward(chain(cache, {2, 3, 4}), outputs);
  const auto expected = chain_logits(*plain, {1, 2, 3, 4});
  for (std::int32_t row = 0; row < 3; ++row) {
    CHECK(logits_of(outputs, row) == expected[static_cast<std::size_t>(row) + 1]);
  }
}

}  // namespace
}  // namespace minitorch::test
