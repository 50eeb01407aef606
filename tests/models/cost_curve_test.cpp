// CostCurve: interpolation, learning from passes, measuring a model, and keeping curves in files.
#include <doctest/doctest.h>
#include <sys/stat.h>  // mkfifo

#include <chrono>
#include <fstream>
#include <limits>

#include "minitorch/base/error.h"
#include "minitorch/io/json.h"
#include "models/cost_cache.h"
#include "models/decoder.h"
#include "tests/support/data.h"
#include "tests/support/environment.h"
#include "tests/support/random_model.h"

namespace minitorch::test {
namespace {

using models::CostCurve;

CostCurve sample() { return CostCurve({{1, 10.0}, {4, 13.0}, {8, 21.0}}); }

TEST_CASE("a cost curve draws straight lines between its points and beyond the last two") {
  const CostCurve curve = sample();
  CHECK(curve.ms(1) == doctest::Approx(10.0));
  CHECK(curve.ms(2) == doctest::Approx(11.0));
  CHECK(curve.ms(4) == doctest::Approx(13.0));
  CHECK(curve.ms(6) == doctest::Approx(17.0));
  CHECK(curve.ms(8) == doctest::Approx(21.0));
  CHECK(curve.ms(16) == doctest::Approx(37.0));
  CHECK(CostCurve({{2, 5.0}}).ms(1) == doctest::Approx(5.0));
  CHECK(CostCurve({{2, 5.0}}).ms(100) == doctest::Approx(5.0));
  CHECK(CostCurve({{1, 9.0}, {2, 7.0}}).ms(50) == doctest::Approx(7.0));  // noise makes no pass free
  CHECK(CostCurve().ms(3) == 0.0);
}

TEST_CASE("a cost curve takes the median of real passes for their number of rows, and their ratio for the others") {
  CostCurve curve = sample();
  curve.observe(4, 26.0);
  curve.observe(4, 900.0);                      // a disturbed pass
  CHECK(curve.ms(4) == doctest::Approx(13.0));  // two passes say nothing yet
  curve.observe(4, 26.0);
  CHECK(curve.ms(4) == doctest::Approx(26.0));
  CHECK(curve.ms(8) == doctest::Approx(42.0));
  CHECK(curve.ms(1) == doctest::Approx(20.0));
  constexpr double kMeasuredFor1000 = 21.0 + 992 * 2.0;
  for (int i = 0; i < 9; ++i) curve.observe(1000, kMeasuredFor1000);
  CHECK(curve.ms(8) == doctest::Approx(21.0));  // the ratio follows the last passes, of any number of rows
  CHECK(curve.ms(4) == doctest::Approx(26.0));
  CHECK(curve.points()[1].ms == 13.0);
}

TEST_CASE("a cost curve ignores times that are none, and an empty one learns nothing") {
  CostCurve curve = sample();
  for (const double bad :
       {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    for (int i = 0; i < 9; ++i) curve.observe(4, bad);
  for (int i = 0; i < 9; ++i) curve.observe(0, 1.0);
  CHECK(curve.ms(4) == doctest::Approx(13.0));
  CostCurve empty;
  empty.observe(1, 1.0);
  CHECK(empty.ms(1) == 0.0);
}

TEST_CASE("a cost curve refuses points that make no curve") {
  CHECK_THROWS_AS(CostCurve(std::vector<CostCurve::Point>{}), Error);
  CHECK_THROWS_AS(CostCurve({{0, 1.0}}), Error);
  CHECK_THROWS_AS(CostCurve({{2, 1.0}, {2, 1.0}}), Error);
  CHECK_THROWS_AS(CostCurve({{1, 0.0}}), Error);
  CHECK_THROWS_WITH_AS(CostCurve({{1, 1.0}, {4, std::numeric_limits<double>::infinity()}}),
                       "cost curve: expected 1e-06 to 1000000000 ms for 4 rows, got inf", Error);
}

TEST_CASE("measuring leaves a model as it was, and its curve covers 1 to 64 rows") {
  const auto model = make_random_model({}, 3, default_runtime());
  auto& decoder = dynamic_cast<models::Decoder&>(*model);
  const auto argmax = [&] {
    models::KVCache cache = model->make_cache(8);
    models::Batch batch;
    batch.caches = {&cache};
    static_cast<void>(batch.add_chain(0, std::vector<std::int32_t>{1, 2, 3}));
    models::Outputs outputs;
    outputs.want.assign(3, models::Want::kLogits);
    model->forward(batch, outputs);
    const auto row = outputs.logits_of(2);
    return std::vector<float>(row.begin(), row.end());
  };
  const std::vector<float> before = argmax();
  const CostCurve curve = models::measure_cost_curve(decoder, 0.05);
  CHECK(argmax() == before);
  REQUIRE(curve.points().size() == CostCurve::kRows.size());
  CHECK(curve.points().back().rows == 64);
  CHECK(curve.points().front().ms > 0.0);
}

TEST_CASE("passes through part of the layers equal those through all when the part is all, and differ otherwise") {
  const auto model = make_random_model({}, 3, default_runtime());
  auto& decoder = dynamic_cast<models::Decoder&>(*model);
  const auto layers = decoder.config().num_layers;
  REQUIRE(layers > 1);
  const auto logits = [&] {
    models::KVCache cache = model->make_cache(8);
    models::Batch batch;
    batch.caches = {&cache};
    static_cast<void>(batch.add_chain(0, std::vector<std::int32_t>{5, 6, 7}));
    models::Outputs outputs;
    outputs.want = {models::Want::kNone, models::Want::kNone, models::Want::kLogits};
    model->forward(batch, outputs);
    const auto row = outputs.logits_of(2);
    return std::vector<float>(row.begin(), row.end());
  };
  const std::vector<float> whole = logits();
  decoder.use_layers({0, layers});
  CHECK(logits() == whole);
  for (const models::RowRange part : {models::RowRange{0, layers - 1}, {1, layers}, {0, 0}}) {
    decoder.use_layers(part);
    CHECK(logits() != whole);
  }
  CHECK_THROWS_AS(decoder.use_layers({0, layers + 1}), Error);
  CHECK_THROWS_AS(decoder.use_layers({-1, 1}), Error);
  CHECK_THROWS_AS(decoder.use_layers({2, 1}), Error);
  decoder.use_all_layers();
  CHECK(logits() == whole);
}

TEST_CASE("curves are kept by key, and a damaged file is no curve") {
  const TemporaryFolder cache;
  CHECK_FALSE(models::find_cost_curve(cache.path(), "a").has_value());
  models::store_cost_curve(cache.path(), "a", sample());
  const auto kept = models::find_cost_curve(cache.path(), "a");
  REQUIRE(kept.has_value());
  CHECK(kept->points().size() == 3);
  CHECK(kept->ms(6) == doctest::Approx(17.0));
  CHECK_FALSE(models::find_cost_curve(cache.path(), "b").has_value());
  for (const auto& entry : std::filesystem::recursive_directory_iterator(cache.path())) {
    if (entry.is_regular_file())
      std::ofstream(entry.path()) << R"({"version": 1, "key": "a", "points": [{"rows": 0}]})";
  }
  CHECK_FALSE(models::find_cost_curve(cache.path(), "a").has_value());
  models::store_cost_curve("/dev/null/no/folder", "a", sample());  // no error
}

TEST_CASE("nothing is written through a link or into a pipe in place of a curve") {
  const TemporaryFolder cache;
  models::store_cost_curve(cache.path(), "a", sample());
  std::filesystem::path file;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(cache.path())) file = entry.path();
  const std::filesystem::path victim = cache.path() / "victim";
  write_file(victim, "keep");
  std::filesystem::remove(file);
  std::filesystem::create_symlink(victim, file);
  models::store_cost_curve(cache.path(), "a", sample());
  CHECK(io::read_file(victim) == "keep");
  std::filesystem::remove(file);
  REQUIRE(mkfifo(file.c_str(), 0600) == 0);
  CHECK_FALSE(models::find_cost_curve(cache.path(), "a").has_value());
  models::store_cost_curve(cache.path(), "a", sample());  // does not wait for a reader
}

TEST_CASE("a checkpoint that was written again has another key") {
  const TemporaryFolder folder;
  write_random_checkpoint(folder.path(), {}, 3);
  const auto model = models::load_causal_lm(folder.path(), default_runtime());
  const auto key = [&] { return models::cost_key(*model, folder.path(), default_runtime()); };
  const std::string first = key();
  CHECK(key() == first);
  const std::filesystem::path weights = folder.path() / "model.safetensors";
  std::filesystem::last_write_time(weights, std::filesystem::last_write_time(weights) + std::chrono::hours(1));
  CHECK(key() != first);
}

TEST_CASE("the cache folder is MINITORCH_CACHE, or minitorch in the user's, and an empty name turns it off") {
  {
    const EnvironmentVariable own("MINITORCH_CACHE", "/some/where");
    CHECK(models::cache_folder() == std::filesystem::path("/some/where"));
  }
  {
    const EnvironmentVariable own("MINITORCH_CACHE", "");
    CHECK_FALSE(models::cache_folder().has_value());
  }
}

}  // namespace
}  // namespace minitorch::test
