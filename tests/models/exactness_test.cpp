// Exactness rules E1 to E3: a row's logits have the same bits however the row is computed.
//
// The yardstick is decoding one token at a time on one thread. Against it stand prefill in chunks, draft trees, trees
// on top of a kept scattered path, and two sequences in one batch; for every SIMD table, f32, bf16 and int8 weights,
// f32 and bf16 caches, 1 to 4 threads.
#include <doctest/doctest.h>

#include <cmath>  // std::nextafter
#include <cstring>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "kernels/kernel_table.h"
#include "minitorch/base/philox.h"
#include "minitorch/base/thread_pool.h"
#include "models/causal_lm.h"
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

using Tokens = std::vector<std::int32_t>;
using Row = std::vector<float>;

bool same_bits(const Row& a, const Row& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

Tokens random_tokens(PhiloxStream& stream, int count, std::int32_t vocab) {
  Tokens tokens;
  for (int i = 0; i < count; ++i)
    tokens.push_back(static_cast<std::int32_t>(stream.below(static_cast<std::uint32_t>(vocab))));
  return tokens;
}

// Runs the batch and returns the logits of every row.
std::vector<Row> logits_of_all(CausalLM& model, const Batch& batch) {
  Outputs outputs;
  outputs.want.assign(batch.rows.size(), Want::kLogits);
  model.forward(batch, outputs);
  std::vector<Row> rows;
  for (std::size_t row = 0; row < batch.rows.size(); ++row) {
    const auto logits = outputs.logits_of(static_cast<std::int32_t>(row));
    rows.emplace_back(logits.begin(), logits.end());
  }
  return rows;
}

// Appends `tokens` to the cache `chunk` at a time and returns the logits of every position.
std::vector<Row> prefill(CausalLM& model, KVCache& cache, const Tokens& tokens, std::size_t chunk) {
  std::vector<Row> all;
  for (std::size_t begin = 0; begin < tokens.size(); begin += chunk) {
    Batch batch;
    batch.caches = {&cache};
    batch.add_chain(0, std::span(tokens).subspan(begin, std::min(chunk, tokens.size() - begin)));
    for (Row& row : logits_of_all(model, batch)) all.push_back(std::move(row));
    cache.keep_chain();
  }
  return all;
}

struct Tree {
  Tokens tokens;
  std::vector<std::int32_t> parent;
  std::vector<int> depth;

  [[nodiscard]] std::vector<std::int32_t> path_to(std::int32_t node) const {
    std::vector<std::int32_t> path;
    for (; node >= 0; node = parent[static_cast<std::size_t>(node)]) path.insert(path.begin(), node);
    return path;
  }
};

Tree random_tree(PhiloxStream& stream, int nodes, std::int32_t vocab) {
  constexpr int kMaxDepth = 8;
  Tree tree;
  while (static_cast<int>(tree.tokens.size()) < nodes) {
    const auto node = static_cast<std::int32_t>(tree.tokens.size());
    const auto parent = static_cast<std::int32_t>(stream.below(static_cast<std::uint32_t>(node) + 1)) - 1;
    const int depth = parent < 0 ? 1 : tree.depth[static_cast<std::size_t>(parent)] + 1;
    if (depth > kMaxDepth) continue;
    tree.tokens.push_back(static_cast<std::int32_t>(stream.below(static_cast<std::uint32_t>(vocab))));
    tree.parent.push_back(parent);
    tree.depth.push_back(depth);
  }
  return tree;
}

// The deepest node whose path leaves slot order (some step of it skips slots); -1 when there is none.
std::int32_t scattered_node(const Tree& tree) {
  std::int32_t best = -1;
  for (std::int32_t node = 0; node < static_cast<std::int32_t>(tree.tokens.size()); ++node) {
    const auto path = tree.path_to(node);
    const bool in_slot_order = path.back() == static_cast<std::int32_t>(path.size()) - 1;
    if (in_slot_order) continue;
    if (best < 0 || tree.depth[static_cast<std::size_t>(node)] > tree.depth[static_cast<std::size_t>(best)])
      best = node;
  }
  return best;
}

// The yardstick for trees: logits at the end of any token sequence, one step at a time, remembered by prefix.
class StepLogits {
 public:
  explicit StepLogits(CausalLM& model) : model_(model), cache_(model.make_cache(512)) {}

  const Row& after(const Tokens& tokens) {
    const auto known = rows_.find(tokens);
    if (known != rows_.end()) return known->second;
    std::size_t common = 0;
    const auto cached = cache_.tokens();
    while (common < cached.size() && common + 1 < tokens.size() && cached[common] == tokens[common]) ++common;
    cache_.truncate(static_cast<std::int32_t>(common));
    Tokens prefix(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(common));
    for (std::size_t i = common; i < tokens.size(); ++i) {
      prefix.push_back(tokens[i]);
      rows_[prefix] = prefill(model_, cache_, {tokens[i]}, 1).front();
    }
    return rows_.at(tokens);
  }

 private:
  CausalLM& model_;
  KVCache cache_;
  std::map<Tokens, Row> rows_;
};

Tokens concat(Tokens a, const Tokens& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Logits of all nodes of a tree on top of the cache's committed tokens, checked against single steps.
void check_tree(CausalLM& model, KVCache& cache, const Tree& tree, const Tokens& committed, StepLogits& steps) {
  Batch batch;
  batch.caches = {&cache};
  for (std::size_t i = 0; i < tree.tokens.size(); ++i) batch.add(0, tree.tokens[i], tree.parent[i]);
  const auto rows = logits_of_all(model, batch);
  for (std::size_t node = 0; node < rows.size(); ++node) {
    Tokens path_tokens;
    for (const auto i : tree.path_to(static_cast<std::int32_t>(node)))
      path_tokens.push_back(tree.tokens[static_cast<std::size_t>(i)]);
    CAPTURE(node);
    CHECK(same_bits(rows[node], steps.after(concat(committed, path_tokens))));
  }
}

struct Variant {
  const kernels::KernelTable* table;
  models::LoadOptions options;
  std::string name;
};

std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const auto* table : kernels::cpu_tables()) {
    for (const char* weights : {"f32", "bf16", "int8"}) {
      all.push_back({table, {.dtype = models::weight_dtype_of(weights)}, fmt::format("{} {}", table->name, weights)});
    }
  }
  return all;
}

// Every check of this file for one checkpoint, on every table, dtype and thread count.
template <typename Check>
void for_every_variant(const std::filesystem::path& folder, Check&& check) {
  for (const Variant& variant : variants()) {
    ThreadPool one(1);
    const auto yardstick = models::load_causal_lm(folder, Runtime{variant.table, &one}, variant.options);
    StepLogits steps(*yardstick);
    for (int threads = 1; threads <= 4; ++threads) {
      CAPTURE(variant.name);
      CAPTURE(threads);
      ThreadPool pool(threads);
      const auto model = models::load_causal_lm(folder, Runtime{variant.table, &pool}, variant.options);
      check(*model, steps);
    }
  }
}

void check_chunks(CausalLM& model, StepLogits& steps) {
  PhiloxStream stream(11);
  const Tokens tokens = random_tokens(stream, 140, model.vocab_size());
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{3}, std::size_t{7}, std::size_t{64}, tokens.size()}) {
    CAPTURE(chunk);
    KVCache cache = model.make_cache(512);
    const auto rows = prefill(model, cache, tokens, chunk);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      CAPTURE(i);
      CHECK(
          same_bits(rows[i], steps.after(Tokens(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(i) + 1))));
    }
  }
}

void check_trees(CausalLM& model, StepLogits& steps) {
  PhiloxStream stream(12);
  // Committed lengths on both sides of the attention-block border of 64, and such that the tree crosses it.
  for (const auto& [length, nodes] : {std::pair{1, 5}, {59, 64}, {63, 17}, {64, 33}, {125, 64}}) {
    CAPTURE(length);
    Tokens committed = random_tokens(stream, length, model.vocab_size());
    KVCache cache = model.make_cache(512);
    static_cast<void>(prefill(model, cache, committed, 32));
    Tree tree = random_tree(stream, nodes, model.vocab_size());
    while (scattered_node(tree) < 0) tree = random_tree(stream, nodes, model.vocab_size());
    check_tree(model, cache, tree, committed, steps);
    const auto path = tree.path_to(scattered_node(tree));
    cache.keep(path);
    for (const auto node : path) committed.push_back(tree.tokens[static_cast<std::size_t>(node)]);
    REQUIRE(cache.length() == static_cast<std::int32_t>(committed.size()));
    check_tree(model, cache, random_tree(stream, 20, model.vocab_size()), committed, steps);
  }
}

void check_two_sequences(CausalLM& model, StepLogits& steps) {
  PhiloxStream stream(13);
  const Tokens first = random_tokens(stream, 70, model.vocab_size());
  const Tokens second = random_tokens(stream, 9, model.vocab_size());
  KVCache first_cache = model.make_cache(512);
  KVCache second_cache = model.make_cache(512);
  static_cast<void>(prefill(model, first_cache, first, 70));
  static_cast<void>(prefill(model, second_cache, second, 9));
  const Tree trees[2] = {random_tree(stream, 12, model.vocab_size()), random_tree(stream, 7, model.vocab_size())};
  Batch batch;
  batch.caches = {&first_cache, &second_cache};
  std::vector<std::int32_t> row_of[2];
  std::vector<std::pair<int, std::size_t>> node_of_row;
  for (std::size_t node = 0; node < 12; ++node) {  // the two sequences' rows alternate
    for (int sequence = 0; sequence < 2; ++sequence) {
      const Tree& tree = trees[sequence];
      if (node >= tree.tokens.size()) continue;
      const auto parent = tree.parent[node];
      row_of[sequence].push_back(
          batch.add(sequence, tree.tokens[node],
                    parent < 0 ? KVCache::kRoot : row_of[sequence][static_cast<std::size_t>(parent)]));
      node_of_row.emplace_back(sequence, node);
    }
  }
  const auto rows = logits_of_all(model, batch);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto [sequence, node] = node_of_row[row];
    Tokens tokens = sequence == 0 ? first : second;
    for (const auto i : trees[sequence].path_to(static_cast<std::int32_t>(node))) {
      tokens.push_back(trees[sequence].tokens[static_cast<std::size_t>(i)]);
    }
    CAPTURE(row);
    CHECK(same_bits(rows[row], steps.after(tokens)));
  }
}

void check_everything(const std::filesystem::path& folder) {
  for_every_variant(folder, [](CausalLM& model, StepLogits& steps) {
    check_chunks(model, steps);
    check_trees(model, steps);
    check_two_sequences(model, steps);
  });
}

TEST_CASE(
    "random Qwen2 weights: chunks, steps, trees and neighbours give the same bits on every table, dtype and thread "
    "count") {
  const TemporaryFolder folder;
  write_random_checkpoint(folder.path(), {}, /*seed=*/1);
  check_everything(folder.path());
}

TEST_CASE("random Llama weights with a tied head: chunks, steps, trees and neighbours give the same bits") {
  const TemporaryFolder folder;
  write_random_checkpoint(folder.path(),
                          {.architecture = "LlamaForCausalLM",
                           .hidden_size = 64,
                           .intermediate_size = 172,
                           .num_heads = 4,
                           .num_kv_heads = 4,
                           .head_dim = 16,
                           .tie_word_embeddings = true},
                          /*seed=*/2);
  check_everything(folder.path());
}

TEST_CASE(
    "stories260K: chunks, steps, trees and neighbours give the same bits on every table, dtype and thread count") {
  MT_REQUIRE_DATA("models/stories260K/model.safetensors");
  check_everything(data_folder() / "models/stories260K");
}

TEST_CASE("a comparison of bits notices a last-bit difference") {
  CHECK(same_bits({1.0f, 2.0f}, {1.0f, 2.0f}));
  CHECK_FALSE(same_bits({1.0f, 2.0f}, {1.0f, std::nextafter(2.0f, 3.0f)}));
  CHECK_FALSE(same_bits({0.0f}, {-0.0f}));
}

}  // namespace
}  // namespace minitorch::test
