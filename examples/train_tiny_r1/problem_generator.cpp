// Planning a problem: a theme, operations that are possible one after the other, and numbers that obey the hold-out.
#include "examples/train_tiny_r1/problem_generator.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "examples/train_tiny_r1/story.h"
#include "minitorch/base/check.h"

namespace minitorch::train_tiny_r1 {
namespace {

constexpr int kMaxSteps = 4;
constexpr std::array<std::uint32_t, kMaxSteps> kStepWeights = {42, 42, 10, 6};
constexpr std::array<std::uint32_t, 4> kOpWeights = {42, 42, 8, 8};  // as Op names them
constexpr std::int64_t kMaxFactor = 10;                              // one factor, or the divisor: 2 to 10
constexpr std::int64_t kMaxOtherFactor = 25;                         // the other factor, or the quotient: 2 to 25
constexpr std::int64_t kSmallOperand = 30;                           // one step in four has no larger second operand

// The place of one of `weights`, drawn in proportion to them.
std::size_t draw_weighted(std::span<const std::uint32_t> weights, ProblemRandom& random) {
  std::uint32_t total = 0;
  for (const std::uint32_t weight : weights) total += weight;
  std::uint32_t drawn = random.below(total);
  std::size_t place = 0;
  while (drawn >= weights[place]) drawn -= weights[place++];
  return place;
}

const Theme& draw_theme(ProblemRandom& random) {
  std::vector<std::uint32_t> weights;
  for (const Theme& theme : themes()) weights.push_back(theme.weight);
  return themes()[draw_weighted(weights, random)];
}

// One story in eight opens with a product, where the theme has such openings.
const OpeningForm& draw_opening(const Theme& theme, ProblemRandom& random) {
  const bool wants_product = random.below(8) == 0;
  std::vector<const OpeningForm*> forms;
  for (const OpeningForm& form : theme.openings) {
    if (form.is_product == wants_product) forms.push_back(&form);
  }
  return forms.empty() ? random.pick(theme.openings) : *random.pick(std::span<const OpeningForm* const>(forms));
}

// Operations first, forms second: how many forms an operation has must not change how often it comes.
const StepForm& draw_step(const Theme& theme, bool is_last, ProblemRandom& random) {
  std::array<std::uint32_t, 4> weights{};
  const auto is_allowed = [&](const StepForm& form) { return is_last || form.kind != StepKind::kIsLast; };
  for (const StepForm& form : theme.steps) {
    const auto op = static_cast<std::size_t>(form.op);
    if (is_allowed(form)) weights[op] = kOpWeights[op];
  }
  const auto op = static_cast<Op>(draw_weighted(weights, random));
  std::vector<const StepForm*> forms;
  for (const StepForm& form : theme.steps) {
    if (form.op == op && is_allowed(form)) forms.push_back(&form);
  }
  return *random.pick(std::span<const StepForm* const>(forms));
}

// The quantity a story opens with, such that its first operation is likely to be possible. Small ones more often.
std::int64_t draw_start(Op first, ProblemRandom& random) {
  switch (first) {
    case Op::kAdd:
    case Op::kSubtract: return random.between(2, random.below(3) == 0 ? 40 : 180);
    case Op::kMultiply: return random.between(2, kMaxOtherFactor);
    case Op::kDivide: {
      const std::int64_t divisor = random.between(2, kMaxFactor);
      return divisor * random.between(2, std::min(kMaxOtherFactor, kMaxNumber / divisor));
    }
  }
  return 0;
}

// All second operands up to `limit` that keep every number in its bounds and the hold-out.
std::vector<std::int64_t> possible_operands(std::int64_t value, Op op, std::int64_t limit, bool held_out) {
  std::int64_t first = 1;
  std::int64_t last = 0;
  switch (op) {
    case Op::kAdd: last = kMaxNumber - value; break;
    case Op::kSubtract: last = value - 1; break;
    case Op::kMultiply:
      first = 2;
      last = value >= 2 && value <= kMaxOtherFactor ? std::min(kMaxFactor, kMaxNumber / value) : 0;
      break;
    case Op::kDivide:
      first = 2;
      last = std::min(kMaxFactor, value / 2);
      break;
  }
  std::vector<std::int64_t> operands;
  for (std::int64_t operand = first; operand <= std::min(last, limit); ++operand) {
    const Equation equation{.left = value, .op = op, .right = operand};
    const bool is_possible = op == Op::kAdd || op == Op::kSubtract
                                 ? is_held_out(equation) == held_out
                                 : op == Op::kMultiply || (value % operand == 0 && value / operand <= kMaxOtherFactor);
    if (is_possible) operands.push_back(operand);
  }
  return operands;
}

// A story with its equations; false when the numbers lead nowhere.
class Attempt {
 public:
  Attempt(int steps, bool held_out, ProblemRandom& random)
      : random_(random), held_out_(held_out), theme_(draw_theme(random)), story_(theme_, random) {
    problem_.steps = steps;
  }

  bool run() {
    const OpeningForm& opening = draw_opening(theme_, random_);
    int done = opening.is_product ? 1 : 0;
    for (int step = done; step < problem_.steps; ++step) {
      steps_.push_back(&draw_step(theme_, step + 1 == problem_.steps, random_));
    }
    open(opening);
    for (const StepForm* step : steps_) {
      if (!take(*step)) return false;
    }
    finish(steps_.empty() || steps_.back()->kind != StepKind::kIsLast ? random_.pick(theme_.endings)
                                                                      : steps_.back()->ending);
    return true;
  }
  Problem take_problem() { return std::move(problem_); }

 private:
  void open(const OpeningForm& opening) {
    Story::Numbers numbers;
    if (opening.is_product) {
      numbers = {.x = random_.between(2, kMaxFactor), .y = random_.between(2, kMaxFactor)};
      apply({.left = numbers.x, .op = Op::kMultiply, .right = numbers.y});
    } else {
      numbers.x = value_ = draw_start(steps_.front()->op, random_);
    }
    problem_.question = story_.tell(opening.text, numbers);
  }

  bool take(const StepForm& step) {
    const std::int64_t limit = random_.below(4) == 0 ? kSmallOperand : kMaxNumber;
    const std::vector<std::int64_t> operands = possible_operands(value_, step.op, limit, held_out_);
    if (operands.empty()) return false;
    const std::int64_t operand = random_.pick(std::span(operands));
    if (step.text.find("{m}") != std::string_view::npos) story_.introduce_person();
    apply({.left = value_, .op = step.op, .right = operand});
    problem_.question += fmt::format(" {}", story_.tell(step.text, {.x = operand}));
    if (step.kind == StepKind::kPassesOn) story_.pass_on();
    return true;
  }

  void apply(const Equation& equation) {
    value_ = equation.result();
    problem_.equations.push_back(equation);
    if (!problem_.reasoning.empty()) problem_.reasoning += '\n';
    problem_.reasoning += equation.text();
  }

  void finish(const Ending& ending) {
    problem_.result = value_;
    problem_.question += fmt::format(" {}", story_.tell(ending.question, {.result = value_}));
    problem_.answer_sentence = story_.tell(ending.answer, {.result = value_});
  }

  ProblemRandom& random_;
  bool held_out_;
  const Theme& theme_;
  Story story_;
  std::vector<const StepForm*> steps_;
  std::int64_t value_ = 0;
  Problem problem_;
};

}  // namespace

Problem make_problem(std::uint64_t seed, std::int64_t index, const ProblemOptions& options) {
  MT_CHECK(options.min_steps >= 1 && options.min_steps <= options.max_steps && options.max_steps <= kMaxSteps,
           "make_problem: expected 1 <= min_steps <= max_steps <= {}, got {} and {}", kMaxSteps, options.min_steps,
           options.max_steps);
  MT_CHECK(index >= 0, "make_problem: expected an index of at least 0, got {}", index);
  ProblemRandom random(seed, index, options.held_out);
  const auto choices = std::span(kStepWeights)
                           .subspan(static_cast<std::size_t>(options.min_steps - 1),
                                    static_cast<std::size_t>(options.max_steps - options.min_steps + 1));
  // The number of steps is drawn once, so that harder problems are not lost to failed attempts.
  const int steps = options.min_steps + static_cast<int>(draw_weighted(choices, random));
  while (true) {
    Attempt attempt(steps, options.held_out, random);
    if (attempt.run()) return attempt.take_problem();
  }
}

std::string completion_text(const Problem& problem) {
  return problem.reasoning + "\n</think>\n" + problem.answer_sentence;
}

std::vector<models::ChatMessage> conversation(const Problem& problem) {
  return {{.role = "user", .content = problem.question},
          {.role = "assistant", .content = fmt::format("<think>\n{}", completion_text(problem))}};
}

std::optional<std::int64_t> boxed_result(std::string_view text) {
  constexpr std::string_view kOpen = "\\boxed{";
  for (std::size_t end = text.size(); end > 0;) {
    const std::size_t open = text.rfind(kOpen, end - 1);
    if (open == std::string_view::npos) return std::nullopt;
    const std::string_view inside = text.substr(open + kOpen.size());
    const std::size_t close = inside.find('}');
    if (close != std::string_view::npos) {
      std::int64_t number = 0;
      const char* last = inside.data() + close;
      const auto [stop, error] = std::from_chars(inside.data(), last, number);
      return error == std::errc() && stop == last ? std::optional(number) : std::nullopt;
    }
    end = open;
  }
  return std::nullopt;
}

}  // namespace minitorch::train_tiny_r1
