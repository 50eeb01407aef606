// Arithmetic and hashing of equations.
#include "examples/train_tiny_r1/equations.h"

#include <algorithm>

#include "minitorch/base/check.h"
#include "minitorch/base/philox.h"

namespace minitorch::train_tiny_r1 {
namespace {

char sign_of(Op op) {
  switch (op) {
    case Op::kAdd: return '+';
    case Op::kSubtract: return '-';
    case Op::kMultiply: return '*';
    case Op::kDivide: return '/';
  }
  return '?';
}

std::size_t place_of(const Equation& equation) {
  const auto in_range = [](std::int64_t number) { return number >= 1 && number <= kMaxNumber; };
  MT_CHECK(in_range(equation.left) && in_range(equation.right),
           "equation set: expected operands from 1 to {}, got {} and {}", kMaxNumber, equation.left, equation.right);
  const auto op = static_cast<std::int64_t>(equation.op);
  return static_cast<std::size_t>((op * kMaxNumber + equation.left - 1) * kMaxNumber + equation.right - 1);
}

}  // namespace

std::int64_t Equation::result() const {
  switch (op) {
    case Op::kAdd: return left + right;
    case Op::kSubtract: return left - right;
    case Op::kMultiply: return left * right;
    case Op::kDivide:
      MT_CHECK(right != 0 && left % right == 0, "equation: expected an exact quotient, got {} / {}", left, right);
      return left / right;
  }
  return 0;
}

std::string Equation::text() const { return fmt::format("{} {} {} = {}", left, sign_of(op), right, result()); }

bool is_held_out(const Equation& equation) {
  if (equation.op != Op::kAdd && equation.op != Op::kSubtract) return false;
  const bool is_sum = equation.op == Op::kAdd;
  const auto left = static_cast<std::uint32_t>(is_sum ? std::min(equation.left, equation.right) : equation.left);
  const auto right = static_cast<std::uint32_t>(is_sum ? std::max(equation.left, equation.right) : equation.right);
  return philox4x32({left, is_sum ? 0U : 1U, right, 0}, {2024, 1})[0] % 10 == 0;
}

EquationSet::EquationSet() : seen_(static_cast<std::size_t>(4 * kMaxNumber * kMaxNumber)) {}
void EquationSet::insert(const Equation& equation) { seen_[place_of(equation)] = true; }
bool EquationSet::contains(const Equation& equation) const { return seen_[place_of(equation)]; }

}  // namespace minitorch::train_tiny_r1
