// The forward pass: what each row may ask for, masking, rows that do not depend on each other, and memory.
#include <algorithm>
#include <cmath>  // std::isinf
#include <cstring>
#include <limits>
#include <numeric>

#include "minitorch/base/error.h"
#include "minitorch/base/philox.h"
#include "minitorch/base/thread_pool.h"
#include "models/causal_lm.h"
#include "models/decoder.h"
#include "models/load.h"
#include "tests/support/data.h"
#include "tests/support/random_model.h"

namespace minitorch::test {
namespace {

using models::Batch;
using models::CausalLM;
using models::KVCache;
using models::Outputs;
using models::Want;
using Ids = std::vector<std::int32_t>;

constexpr std::int32_t kVocab = 97;  // of RandomModelShape

const Runtime& runtime() {
  static ThreadPool threads(2);
  static const Runtime runtime{&kernels::best_cpu_table(), &threads};
  return runtime;
}

std::unique_ptr<CausalLM> make_model(const RandomModelShape& shape = {}) {
  return make_random_model(shape, /*seed=*/3, runtime());
}

Ids random_ids(int count, std::uint64_t seed) {
  PhiloxStream stream(seed);
  Ids ids;
  for (int i = 0; i < count; ++i) ids.push_back(static_cast<std::int32_t>(stream.below(kVocab)));
  return ids;
}

Batch chain(KVCache& cache, const Ids& ids) {
  Batch batch;
  batch.caches = {&cache};
  batch.add_chain(0, ids);
  return batch;
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

std::vector<float> row_of(const Tensor& matrix, std::int64_t row) {
  const float* begin = matrix.data<float>() + row * matrix.size(1);
  return {begin, begin + matrix.size(1)};
}

// Logits of every row of a fresh chain.
std::vector<std::vector<float>> chain_logits(CausalLM& model, const Ids& ids) {
  KVCache cache = model.make_cache(512);
  Outputs outputs;
  outputs.want.assign(ids.size(), Want::kLogits);
  model.forward(chain(cache, ids), outputs);
  std::vector<std::vector<float>> rows;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto logits = outputs.logits_of(static_cast<std::int32_t>(i));
    rows.emplace_back(logits.begin(), logits.end());
  }
  return rows;
}

TEST_CASE("whatever a row asks for agrees with its logits, in any mixture") {
  const auto model = make_model();
  const Ids ids = random_ids(100, 1);
  const auto logits = chain_logits(*model, ids);
  PhiloxStream stream(2);
  for (int trial = 0; trial < 8; ++trial) {
    CAPTURE(trial);
    Outputs outputs;
    outputs.top_k = 5;
    for (std::size_t i = 0; i < ids.size(); ++i) outputs.want.push_back(static_cast<Want>(stream.below(4)));
    KVCache cache = model->make_cache(512);
    model->forward(chain(cache, ids), outputs);
    for (std::int32_t row = 0; row < 100; ++row) {
      CAPTURE(row);
      const auto at = static_cast<std::size_t>(row);
      const Want want = outputs.want[at];
      const auto& expected = logits[at];
      const auto best =
          static_cast<std::int32_t>(std::max_element(expected.begin(), expected.end()) - expected.begin());
      CHECK(outputs.argmax[at] == (want == Want::kNone ? -1 : best));
      if (want == Want::kLogits) {
        CHECK(same_bits(outputs.logits_of(row), expected));
      } else {
        CHECK(outputs.logits_row[at] == -1);
        CHECK_THROWS_AS(static_cast<void>(outputs.logits_of(row)), Error);
      }
      Ids order(expected.size());
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
        return expected[static_cast<std::size_t>(a)] > expected[static_cast<std::size_t>(b)];
      });
      for (std::size_t k = 0; k < 5; ++k) {
        const auto id = outputs.top_indices[at * 5 + k];
        CHECK(id == (want == Want::kTopK ? order[k] : -1));
        if (want == Want::kTopK) CHECK(outputs.top_values[at * 5 + k] == expected[static_cast<std::size_t>(id)]);
      }
    }
  }
}

TEST_CASE("nothing wanted computes keys and values only, and rows beyond the request want nothing") {
  const auto model = make_model();
  const Ids ids = random_ids(20, 4);
  KVCache cache = model->make_cache(64);
  Outputs outputs;
  outputs.want = {Want::kNone, Want::kArgmax};
  model->forward(chain(cache, ids), outputs);
  CHECK(outputs.argmax.size() == 20);
  CHECK(outputs.argmax[0] == -1);
  CHECK(outputs.argmax[1] >= 0);
  CHECK(outputs.argmax[2] == -1);
  CHECK_FALSE(outputs.logits.defined());
  cache.keep_chain();
  outputs.want = {Want::kLogits};
  model->forward(chain(cache, {5}), outputs);
  Ids all = ids;
  all.push_back(5);
  CHECK(same_bits(outputs.logits_of(0), chain_logits(*model, all).back()));
}

TEST_CASE("an empty batch gives empty outputs") {
  const auto model = make_model();
  Outputs outputs;
  model->forward({}, outputs);
  CHECK(outputs.argmax.empty());
}

TEST_CASE("hidden states are those the next rows are computed from, whatever else is wanted") {
  const auto model = make_model();
  const Ids ids = random_ids(30, 5);
  for (const std::int32_t layer : {0, 1}) {
    CAPTURE(layer);
    Outputs all;
    all.hidden_layer = layer;
    all.want.assign(ids.size(), Want::kLogits);
    KVCache cache = model->make_cache(64);
    model->forward(chain(cache, ids), all);
    CHECK(all.hidden.shape() == Shape{30, 45});
    CHECK(same_bits(all.logits_of(7), chain_logits(*model, ids)[7]));
    KVCache other = model->make_cache(64);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      Outputs one;
      one.hidden_layer = layer;
      model->forward(chain(other, {ids[i]}), one);
      other.keep_chain();
      CHECK(same_bits(row_of(one.hidden, 0), row_of(all.hidden, static_cast<std::int64_t>(i))));
    }
  }
  Outputs outputs;
  KVCache cache = model->make_cache(64);
  outputs.hidden_layer = 2;
  CHECK_THROWS_WITH_AS(model->forward(chain(cache, ids), outputs), "forward: expected hidden_layer from -1 to 1, got 2",
                       Error);
}

TEST_CASE("a batch larger than one round gives the bits of single steps") {
  const auto model = make_model();
  const auto count = static_cast<int>(models::Decoder::kRowsPerRound) + 37;
  const Ids ids = random_ids(count, 6);
  const auto logits = chain_logits(*model, ids);
  KVCache cache = model->make_cache(512);
  Outputs outputs;
  outputs.want = {Want::kLogits};
  for (std::size_t i = 0; i < ids.size(); ++i) {
    model->forward(chain(cache, {ids[i]}), outputs);
    cache.keep_chain();
    CAPTURE(i);
    REQUIRE(same_bits(outputs.logits_of(0), logits[i]));
  }
}

TEST_CASE("two sequences in one batch give what each gives alone") {
  const auto model = make_model();
  const Ids first = random_ids(70, 7);
  const Ids second = random_ids(9, 8);
  KVCache caches[2] = {model->make_cache(128), model->make_cache(128)};
  Batch batch;
  batch.caches = {&caches[0], &caches[1]};
  batch.add_chain(0, std::span(first).first(30));
  batch.add_chain(1, second);
  batch.add_chain(0, std::span(first).subspan(30), 29);
  Outputs outputs;
  outputs.want.assign(79, Want::kLogits);
  model->forward(batch, outputs);
  CHECK(caches[0].num_pending() == 70);
  CHECK(caches[1].num_pending() == 9);
  const auto alone_first = chain_logits(*model, first);
  const auto alone_second = chain_logits(*model, second);
  for (std::size_t i = 0; i < 79; ++i) {
    CAPTURE(i);
    const auto& expected = i < 30 ? alone_first[i] : i < 39 ? alone_second[i - 30] : alone_first[i - 9];
    CHECK(same_bits(outputs.logits_of(static_cast<std::int32_t>(i)), expected));
  }
}

TEST_CASE("ids that no token has are masked in every kind of output") {
  const auto model = make_model();
  const Ids ids = random_ids(12, 9);
  const auto free = chain_logits(*model, ids);
  // Mask the best id of each row among those below 90, and everything from 90 on.
  models::ValidIds valid{.limit = 90, .holes = {}};
  for (const auto& row : free)
    valid.holes.push_back(static_cast<std::int32_t>(std::max_element(row.begin(), row.begin() + 90) - row.begin()));
  std::sort(valid.holes.begin(), valid.holes.end());
  valid.holes.erase(std::unique(valid.holes.begin(), valid.holes.end()), valid.holes.end());
  model->restrict_ids(valid);
  const auto is_valid = [&](std::int32_t id) {
    return id < 90 && !std::binary_search(valid.holes.begin(), valid.holes.end(), id);
  };
  Outputs outputs;
  outputs.want.assign(12, Want::kTopK);
  outputs.top_k = 90 - static_cast<std::int32_t>(valid.holes.size());
  KVCache cache = model->make_cache(64);
  model->forward(chain(cache, ids), outputs);
  for (const std::int32_t id : outputs.top_indices) CHECK(is_valid(id));
  for (std::size_t row = 0; row < 12; ++row) {
    CHECK(is_valid(outputs.argmax[row]));
    CHECK(outputs.argmax[row] == outputs.top_indices[row * static_cast<std::size_t>(outputs.top_k)]);
  }
  const auto masked = chain_logits(*model, ids);
  for (std::size_t row = 0; row < 12; ++row) {
    for (std::int32_t id = 0; id < kVocab; ++id) {
      const auto at = static_cast<std::size_t>(id);
      CHECK(masked[row][at] == (is_valid(id) ? free[row][at] : -std::numeric_limits<float>::infinity()));
    }
  }
  cache.keep({});
  ++outputs.top_k;
  CHECK_THROWS_AS(model->forward(chain(cache, ids), outputs), Error);
  model->restrict_ids({.limit = 0, .holes = {}});
  outputs.want = {};
  CHECK_THROWS_WITH_AS(model->forward(chain(cache, ids), outputs), "forward: every id of the vocabulary is masked",
                       Error);
}

TEST_CASE("decoding takes no memory from the system after warm-up") {
  const auto model = make_model();
  const auto& decoder = dynamic_cast<const models::Decoder&>(*model);
  KVCache cache = model->make_cache(400);
  cache.reserve(400);
  Outputs outputs;
  Batch batch;
  const auto step = [&](int rows) {
    batch.clear();
    batch.caches.assign(1, &cache);
    batch.add_chain(0, random_ids(rows, 11));
    outputs.want.assign(static_cast<std::size_t>(rows), Want::kLogits);
    model->forward(batch, outputs);
    cache.keep(Ids{0});
  };
  for (int rows = 1; rows <= 9; ++rows) step(rows);
  const auto model_before = decoder.memory_stats();
  const auto caller_before = default_memory_pool().stats();
  const std::int64_t pages_before = cache.bytes();
  for (int i = 0; i < 100; ++i) step(i % 9 + 1);
  const auto model_after = decoder.memory_stats();
  const auto caller_after = default_memory_pool().stats();
  CHECK(model_after.allocations > model_before.allocations);
  CHECK(model_after.system_allocations == model_before.system_allocations);
  CHECK(model_after.bytes_in_use == model_before.bytes_in_use);
  CHECK(caller_after.system_allocations == caller_before.system_allocations);
  CHECK(cache.bytes() == pages_before);
}

TEST_CASE("results may outlive the model") {
  Outputs outputs;
  {
    const auto model = make_model();
    KVCache cache = model->make_cache(16);
    outputs.want.assign(2, Want::kLogits);
    outputs.hidden_layer = 1;
    model->forward(chain(cache, {1, 2}), outputs);
  }
  CHECK_FALSE(std::isinf(outputs.logits_of(1)[0]));
  CHECK(outputs.hidden.shape() == Shape{2, 45});
}

}  // namespace
}  // namespace minitorch::test
