// CostCurve: interpolation, running medians, and the measurement.
#include "models/cost_curve.h"

#include <algorithm>
#include <chrono>
#include <cmath>  // std::isfinite
#include <utility>

#include "minitorch/base/check.h"
#include "models/decoder.h"

namespace minitorch::models {
namespace {

using Clock = std::chrono::steady_clock;

// What a kept curve may say: no pass is shorter or longer.
constexpr std::int64_t kMostRows = std::int64_t{1} << 20;
constexpr double kLeastMs = 1e-6;
constexpr double kMostMs = 1e9;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Times parts of a model.
class Probe {
 public:
  explicit Probe(Decoder& model)
      : model_(model), cache_(model.make_cache(static_cast<std::int32_t>(CostCurve::kRows.back()))) {}
  ~Probe() { model_.use_all_layers(); }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  // Milliseconds of `rows` rows through `layers`, without the head.
  double layers_ms(std::int64_t rows, RowRange layers) {
    outputs_.want.clear();
    outputs_.hidden_layer = static_cast<std::int32_t>(layers.end) - 1;  // so that no row is left out of the last one
    return pass_ms(rows, layers);
  }
  // Milliseconds of the head for `rows` rows, which all want their argmax, and of looking up their embeddings.
  double head_ms(std::int64_t rows) {
    outputs_.want.assign(static_cast<std::size_t>(rows), Want::kArgmax);
    outputs_.hidden_layer = -1;
    return pass_ms(rows, {0, 0});
  }

 private:
  double pass_ms(std::int64_t rows, RowRange layers) {
    batch_.clear();
    batch_.caches.assign(1, &cache_);
    const std::int32_t ids = std::max(std::min(model_.vocab_size(), model_.valid_ids().limit), 1);
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(rows));
    for (std::int32_t& token : tokens) token = next_token_++ % ids;
    static_cast<void>(batch_.add_chain(0, tokens));
    model_.use_layers(layers);
    const auto start = Clock::now();
    model_.forward(batch_, outputs_);
    const double ms = ms_since(start);
    cache_.keep({});
    return ms;
  }

  Decoder& model_;
  KVCache cache_;
  Batch batch_;
  Outputs outputs_;
  std::int32_t next_token_ = 0;
};

}  // namespace

void CostCurve::Recent::add(double value) {
  values_[static_cast<std::size_t>(next_)] = static_cast<float>(value);
  next_ = (next_ + 1) % kSize;
  count_ = std::min(count_ + 1, kSize);
}

double CostCurve::Recent::median() const {
  std::array<float, kSize> sorted = values_;
  std::sort(sorted.begin(), sorted.begin() + count_);
  return static_cast<double>(sorted[static_cast<std::size_t>(count_ / 2)]);
}

CostCurve::CostCurve(std::vector<Point> points) : points_(std::move(points)) {
  MT_CHECK(!points_.empty(), "cost curve: expected at least one point, got none");
  std::int64_t last = 0;
  for (const Point& point : points_) {
    MT_CHECK(point.rows > last, "cost curve: expected rows in ascending order from 1 on, got {} after {}", point.rows,
             last);
    MT_CHECK(point.rows <= kMostRows, "cost curve: expected at most {} rows, got {}", kMostRows, point.rows);
    MT_CHECK(point.ms >= kLeastMs && point.ms <= kMostMs, "cost curve: expected {} to {} ms for {} rows, got {}",
             kLeastMs, kMostMs, point.rows, point.ms);
    last = point.rows;
  }
  constexpr std::int64_t kMostCounts = 1024;  // bounds the memory for a point far out
  passes_.resize(static_cast<std::size_t>(std::min(last, kMostCounts)) + 1);
}

// Straight lines through neighbouring points; the first one's time below it.
double CostCurve::measured_ms(std::int64_t rows) const {
  if (points_.size() == 1 || rows <= points_.front().rows) return points_.front().ms;
  std::size_t i = 1;
  while (i + 1 < points_.size() && points_[i].rows < rows) ++i;
  const Point& a = points_[i - 1];
  const Point& b = points_[i];
  const double slope = (b.ms - a.ms) / static_cast<double>(b.rows - a.rows);
  const double ms = a.ms + slope * static_cast<double>(rows - a.rows);
  return rows > b.rows ? std::max(ms, b.ms) : ms;  // noise in the last points must not make long passes free
}

double CostCurve::ms(std::int64_t rows) const {
  if (empty()) return 0.0;
  const auto index = static_cast<std::size_t>(std::max<std::int64_t>(rows, 0));
  if (index < passes_.size() && passes_[index].count() >= kEnough) return passes_[index].median();
  return measured_ms(rows) * (ratios_.count() >= kEnough ? ratios_.median() : 1.0);
}

void CostCurve::observe(std::int64_t rows, double ms) {
  if (empty() || rows < 1 || !std::isfinite(ms) || ms <= 0.0) return;
  if (static_cast<std::size_t>(rows) < passes_.size()) passes_[static_cast<std::size_t>(rows)].add(ms);
  ratios_.add(ms / measured_ms(rows));
}

CostCurve measure_cost_curve(Decoder& model, double budget_s) {
  constexpr std::int64_t kLayers = 2;
  const std::int64_t num_layers = model.config().num_layers;
  const std::int64_t layers = std::min(kLayers, num_layers);
  Probe probe(model);
  std::vector<double> layer_ms[CostCurve::kRows.size()];
  std::vector<double> head_ms[CostCurve::kRows.size()];
  std::int64_t first = 0;
  static_cast<void>(probe.layers_ms(1, {0, layers}));  // takes working memory
  const auto start = Clock::now();
  double round_ms = 0.0;
  constexpr int kMostRounds = 9;  // enough for a steady median of a small model
  for (int round = 0; round < kMostRounds; ++round) {
    const auto round_start = Clock::now();
    if (round > 0 && ms_since(start) + round_ms > budget_s * 1e3) break;
    for (std::size_t i = 0; i < CostCurve::kRows.size(); ++i) {
      const std::int64_t rows = CostCurve::kRows[i];
      if (rows > model.max_context()) break;
      layer_ms[i].push_back(probe.layers_ms(rows, {first, first + layers}) / static_cast<double>(layers));
      head_ms[i].push_back(probe.head_ms(rows));
      first += layers;  // the last ones may be taken twice in a round
      if (first + layers > num_layers) first = first < num_layers ? num_layers - layers : 0;
    }
    round_ms = ms_since(round_start);
  }
  std::vector<CostCurve::Point> points;
  for (std::size_t i = 0; i < CostCurve::kRows.size() && !layer_ms[i].empty(); ++i) {
    const double ms = median_of(layer_ms[i]) * static_cast<double>(num_layers) + median_of(head_ms[i]);
    points.push_back({CostCurve::kRows[i], ms});
  }
  return CostCurve(std::move(points));
}

}  // namespace minitorch::models
