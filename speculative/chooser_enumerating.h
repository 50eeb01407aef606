// EnumeratingChooser: the Chooser of the exactness proof. The program under test is run once for every outcome of its
// random decisions; the weights of the outcomes are exact up to rounding and sum to 1.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "speculative/chooser.h"

namespace minitorch::spec {

// Every key stands for one uniform number in [0, 1), as in production: accept() asks whether it is below a ratio,
// draw() in which cell of the cumulated weights it lies. The chooser keeps the interval in which the number of each key
// is known to be, and visits every part that a decision splits it into. So a key that is used twice gives dependent
// decisions here as it does there, and the bias of that is seen.
class EnumeratingChooser : public Chooser {
 public:
  // Begins the next outcome; false when all were visited. Call it before every run of the program:
  //   while (chooser.next()) { result = program(chooser); total[result] += chooser.weight(); }
  [[nodiscard]] bool next();
  // Probability of the outcome, once the program has run.
  [[nodiscard]] double weight() const { return weight_; }

  [[nodiscard]] bool accept(std::int32_t node, double numerator, double denominator) override;
  [[nodiscard]] std::size_t draw(std::int32_t node, Purpose purpose,
                                 std::span<const TokenProbability> weights) override;
  // The noise of a position gives one independent draw. Throws Error when a position is looked at twice: how two draws
  // with the same noise depend on each other cannot be counted. So this is no way to prove "coupled"; its text is
  // compared.
  [[nodiscard]] std::size_t sample(std::int64_t position, std::span<const TokenProbability> row) override;

 private:
  using Key = std::tuple<std::int64_t, std::int32_t, Purpose>;  // committed, node, purpose
  struct Interval {
    double low = 0.0;
    double high = 1.0;
  };

  [[nodiscard]] std::size_t decide(Interval& known, std::span<const double> borders);
  [[nodiscard]] std::size_t draw_within(Interval& known, std::span<const TokenProbability> weights);

  bool started_ = false;
  double weight_ = 1.0;
  std::map<Key, Interval> known_;
  std::set<std::int64_t> positions_;
  std::size_t depth_ = 0;             // decisions made in this run
  std::vector<std::size_t> choice_;   // which part each decision took
  std::vector<std::size_t> further_;  // the next part it can take, or 0: none is left
  std::vector<double> borders_;
};

}  // namespace minitorch::spec
