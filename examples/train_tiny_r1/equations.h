// Equations of the word problems, and which of them are kept out of training.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace minitorch::train_tiny_r1 {

inline constexpr std::int64_t kMaxNumber = 200;  // of operands and results; the smallest is 1

enum class Op : std::uint8_t { kAdd, kSubtract, kMultiply, kDivide };

struct Equation {
  std::int64_t left = 0;
  Op op = Op::kAdd;
  std::int64_t right = 0;

  [[nodiscard]] std::int64_t result() const;  // of a division: the exact quotient
  [[nodiscard]] std::string text() const;     // "145 - 56 = 89"
  friend bool operator==(const Equation&, const Equation&) = default;
};

// One tenth of all sums and differences never occurs in training. Which ones is told by a hash of (left, op, right):
// word 0 of Philox 4x32-10 for the counter {left, 0 for + and 1 for -, right, 0} under the key {2024, 1}, modulo 10.
// The operands of a sum are put in ascending order first, so that a + b and b + a are held out together. Products and
// quotients are never held out.
[[nodiscard]] bool is_held_out(const Equation& equation);

// Which equations occurred, for reporting products and quotients as seen or unseen. Operands are 1 to kMaxNumber.
class EquationSet {
 public:
  EquationSet();
  void insert(const Equation& equation);
  [[nodiscard]] bool contains(const Equation& equation) const;

 private:
  std::vector<bool> seen_;
};

}  // namespace minitorch::train_tiny_r1
