// CostCurve: how long a forward pass over k rows takes. Speculation pays when the curve is flat. It is reported
// (run_spec_decoding --json) and meant for choosing the draft length; nothing chooses by it yet.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace minitorch::models {

class Decoder;

class CostCurve {
 public:
  struct Point {
    std::int64_t rows = 0;
    double ms = 0.0;
  };
  // Counts of rows that measure_cost_curve times.
  static constexpr std::array<std::int64_t, 7> kRows{1, 2, 4, 8, 16, 32, 64};

  CostCurve() = default;  // empty
  // Points in ascending order of rows, the first of at least 1 row. Throws Error when there is none, the order is
  // another, or a time is not positive and finite.
  explicit CostCurve(std::vector<Point> points);

  [[nodiscard]] bool empty() const { return points_.empty(); }
  // As measured, without what observe() learned.
  [[nodiscard]] std::span<const Point> points() const { return points_; }

  // Milliseconds of a pass over `rows` >= 1 rows: the median of the real passes over as many rows when there were
  // kEnough, else the measured curve (straight lines between the points and beyond the last two) times the ratio by
  // which recent passes differed from it. 0 when the curve is empty.
  [[nodiscard]] double ms(std::int64_t rows) const;

  // Learns from a real pass. Takes no memory. Without effect on an empty curve and for times that are not positive.
  void observe(std::int64_t rows, double ms);

  static constexpr int kEnough = 3;

 private:
  // The last values, of which the median counts.
  class Recent {
   public:
    void add(double value);
    [[nodiscard]] int count() const { return count_; }
    [[nodiscard]] double median() const;

   private:
    static constexpr int kSize = 9;
    std::array<float, kSize> values_{};
    int count_ = 0;
    int next_ = 0;
  };

  [[nodiscard]] double measured_ms(std::int64_t rows) const;

  std::vector<Point> points_;
  std::vector<Recent> passes_;  // by number of rows, up to the last point's
  Recent ratios_;               // real time / measured time, of passes over any number of rows
};

// Times passes over kRows rows on two layers at a time, other ones every time so that their weights come from memory,
// and over the head; the whole is put together from the medians. Takes about `budget_s` seconds, but every count is
// timed at least once. The cache is short: what attention adds at long contexts is left to observe().
[[nodiscard]] CostCurve measure_cost_curve(Decoder& model, double budget_s = 1.0);

}  // namespace minitorch::models
