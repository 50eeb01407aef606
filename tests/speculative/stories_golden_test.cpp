// stories260K against golden.json: every value of the file is compared, so that none can change unnoticed.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>  // std::abs
#include <string>

#include "minitorch/core/execution_scope.h"
#include "minitorch/io/json.h"
#include "models/load.h"
#include "tests/speculative/helpers.h"
#include "tests/support/data.h"

using namespace minitorch;
using nlohmann::json;
using test::Ids;

namespace {

constexpr double kTolerance = 1e-4;  // of logits up to 20, computed in f32 here and in f64 there

std::filesystem::path folder() { return test::data_folder() / "models/stories260K"; }

using Row = std::vector<float>;

// The logits behind every token of `ids`.
std::vector<Row> logits_of(models::CausalLM& model, const Ids& ids) {
  models::KVCache cache = model.make_cache(model.max_context());
  models::Batch batch;
  batch.caches = {&cache};
  static_cast<void>(batch.add_chain(0, ids));
  models::Outputs outputs;
  outputs.want.assign(ids.size(), models::Want::kLogits);
  model.forward(batch, outputs);
  std::vector<Row> rows;
  for (std::size_t row = 0; row < ids.size(); ++row) {
    const std::span<const float> logits = outputs.logits_of(static_cast<std::int32_t>(row));
    rows.emplace_back(logits.begin(), logits.end());
  }
  return rows;
}

// (id, logit) pairs, largest first.
std::vector<std::pair<std::int32_t, float>> sorted(const Row& row) {
  std::vector<std::pair<std::int32_t, float>> pairs;
  for (std::size_t id = 0; id < row.size(); ++id) pairs.emplace_back(static_cast<std::int32_t>(id), row[id]);
  std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return pairs;
}

bool close(double value, const json& golden) { return std::abs(value - golden.get<double>()) <= kTolerance; }

}  // namespace

TEST_CASE("stories260K: prompt ids, texts and counts of golden.json agree with the tokenizer and with each other") {
  MT_REQUIRE_DATA("models/stories260K/golden.json");
  const json golden = io::read_json(folder() / "golden.json");
  const models::Tokenizer tokenizer = models::Tokenizer::from_directory(folder());
  Ids all = golden["prompt_ids"];
  CHECK(tokenizer.encode(golden["prompt"].get<std::string>(), /*add_special_tokens=*/true) == all);
  CHECK(golden["bos_prepended"] == (all.front() == tokenizer.bos_id()));
  const Ids new_ids = golden["new_ids"];
  CHECK(golden["n_new"] == new_ids.size());
  CHECK(tokenizer.decode(new_ids) == golden["new_text"]);
  all.insert(all.end(), new_ids.begin(), new_ids.end());
  CHECK(golden["all_ids"] == all);
  CHECK(golden["text"] == golden["prompt"].get<std::string>() + golden["new_text"].get<std::string>());
  CHECK(golden["text"] == tokenizer.decode(all, /*skip_special_tokens=*/true));
  const json start = io::read_json(folder() / "golden_256.json");
  CHECK(tokenizer.decode(start["ids"].get<Ids>(), /*skip_special_tokens=*/true) == start["text"]);
}

TEST_CASE("stories260K: logits, their order and the margins of golden.json") {
  MT_REQUIRE_DATA("models/stories260K/golden.json");
  const json golden = io::read_json(folder() / "golden.json");
  const models::LoadedModel loaded = models::load_model(folder(), default_runtime());
  const std::vector<Row> rows = logits_of(*loaded.model, golden["all_ids"].get<Ids>());
  const std::size_t prompt_size = golden["prompt_ids"].size();
  const json& margins = golden["margins"];
  REQUIRE(margins.size() == golden["new_ids"].size());
  double smallest = INFINITY;
  for (std::size_t step = 0; step < margins.size(); ++step) {
    CAPTURE(step);
    const auto pairs = sorted(rows[prompt_size - 1 + step]);
    CHECK(pairs[0].first == golden["new_ids"][step]);
    const double margin = double{pairs[0].second} - double{pairs[1].second};
    CHECK(close(margin, margins[step]));
    smallest = std::min(smallest, margin);
  }
  CHECK(close(smallest, golden["min_top1_top2_logit_margin"]));
  for (std::size_t row = 0; row < 3; ++row) {
    CAPTURE(row);
    CHECK(sorted(rows[row])[0].first == golden["logits_argmax"][row]);
    for (std::size_t id = 0; id < 8; ++id) CHECK(close(rows[row][id], golden["logits_first8"][row][id]));
  }
  const auto top = sorted(rows[prompt_size - 1]);
  REQUIRE(golden["logits_last_prompt_position_top5"].size() == 5);
  for (std::size_t rank = 0; rank < 5; ++rank) {
    const json& pair = golden["logits_last_prompt_position_top5"][rank];
    CHECK(top[rank].first == pair[0]);
    CHECK(close(top[rank].second, pair[1]));
  }
}
