// The word problems of train_tiny_r1: pure, right, within bounds, held out where they must be, and in good grammar.
#include "examples/train_tiny_r1/problem_generator.h"

#include <doctest/doctest.h>

#include <array>
#include <iterator>
#include <set>
#include <sstream>
#include <tuple>

#include "examples/train_tiny_r1/sentence_forms.h"
#include "examples/train_tiny_r1/word_tables.h"
#include "minitorch/base/error.h"

namespace minitorch::test {
namespace {

using namespace train_tiny_r1;

constexpr std::int64_t kNumTraining = 20000;
constexpr std::int64_t kNumTest = 2000;

// Made once; every test looks at all of them.
const std::vector<Problem>& problems(bool held_out) {
  const auto make = [](bool is_held_out_set) {
    std::vector<Problem> made;
    for (std::int64_t i = 0; i < (is_held_out_set ? kNumTest : kNumTraining); ++i) {
      made.push_back(make_problem(/*seed=*/2024, i, {.held_out = is_held_out_set}));
    }
    return made;
  };
  static const std::vector<Problem> training = make(false);
  static const std::vector<Problem> test = make(true);
  return held_out ? test : training;
}

// Calls visit(problem) for all problems, training and test.
template <typename Visit>
void for_all(const Visit& visit) {
  for (const bool held_out : {false, true}) {
    for (const Problem& problem : problems(held_out)) {
      CAPTURE(problem.question);
      visit(problem);
    }
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> words_of(std::string text) {
  for (char& c : text) {
    if (std::string_view(".,?{}\\\n").find(c) != std::string_view::npos) c = ' ';
  }
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

bool is_number(const std::string& word) { return word.find_first_not_of("0123456789") == std::string::npos; }

bool is_same(const Problem& a, const Problem& b) {
  return std::tie(a.question, a.reasoning, a.answer_sentence, a.result, a.steps, a.equations) ==
         std::tie(b.question, b.reasoning, b.answer_sentence, b.result, b.steps, b.equations);
}

}  // namespace

TEST_CASE("a problem depends on seed, index and options alone, and each of them changes it") {
  const ProblemOptions options{};
  int num_equal = 0;
  for (std::int64_t i = 0; i < 200; ++i) {
    const std::int64_t index = (i * 77) % 200;  // in another order
    const Problem problem = make_problem(7, index, options);
    CHECK(is_same(problem, make_problem(7, index, options)));
    num_equal += problem.question == make_problem(8, index, options).question ? 1 : 0;
    num_equal += problem.question == make_problem(7, index + 1, options).question ? 1 : 0;
    num_equal += problem.question == make_problem(7, index, {.held_out = true}).question ? 1 : 0;
    num_equal += problem.question == make_problem(7 + (std::uint64_t{1} << 32), index, options).question ? 1 : 0;
    num_equal += problem.question == make_problem(7, index + (std::int64_t{1} << 32), options).question ? 1 : 0;
  }
  CHECK(num_equal == 0);
}

TEST_CASE("the first problems of a seed are what they always were") {
  // Training resumes and model cards are checked by seed: a change here means a new pair.
  const Problem first = make_problem(1, 0, {});
  CHECK(first.question ==
        "Noah walked 4 kilometers. Then he went 21 kilometers by bus. Then he went 148 kilometers by bus. Diana "
        "traveled 9 kilometers less than Noah. How many kilometers did Diana travel?");
  CHECK(first.reasoning == "4 + 21 = 25\n25 + 148 = 173\n173 - 9 = 164");
  CHECK(first.answer_sentence == "Diana traveled \\boxed{164} kilometers.");
  std::uint64_t hash = 0xCBF29CE484222325;  // FNV-1a
  for (std::int64_t i = 0; i < 1000; ++i) {
    const Problem problem = make_problem(1, i, {.held_out = i % 2 == 1});
    for (const char c : problem.question + completion_text(problem)) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
    }
  }
  CHECK(hash == 0xC1ABAC61F1837963U);
}

TEST_CASE("there are at least 300 names and objects and 40 sentence forms, each once") {
  std::set<std::string_view> names(female_names().begin(), female_names().end());
  names.insert(male_names().begin(), male_names().end());
  CHECK(names.size() == female_names().size() + male_names().size());
  for (const auto nouns : {objects(), animals(), people(), containers()}) {
    std::set<std::string_view> forms;
    for (const Noun& noun : nouns) forms.insert(noun.singular);
    CHECK(forms.size() == nouns.size());
  }
  CHECK(names.size() + objects().size() >= 300);
  CHECK(num_sentence_forms() >= 40);
  std::size_t num_texts = 0;
  for (const Theme& theme : themes()) num_texts += theme.openings.size() + theme.steps.size() + theme.endings.size();
  CHECK(static_cast<std::size_t>(num_sentence_forms()) <= num_texts + 20);
}

TEST_CASE("every name, noun and place occurs in training") {
  std::set<std::string> words;
  for (const Problem& problem : problems(false)) {
    for (const std::string& word : words_of(problem.question)) words.insert(word);
  }
  words.insert("cable car");  // the only place of two words
  for (const auto names : {female_names(), male_names(), stores(), vehicles()}) {
    for (const std::string_view name : names) CHECK_MESSAGE(words.contains(std::string(name)), name);
  }
  for (const auto nouns : {objects(), animals(), people(), containers()}) {
    for (const Noun& noun : nouns) CHECK_MESSAGE(words.contains(std::string(noun.plural)), noun.plural);
  }
}

TEST_CASE("every equation is right, follows from the one before, and its numbers stand in the question in that order") {
  for_all([](const Problem& problem) {
    REQUIRE(problem.equations.size() == static_cast<std::size_t>(problem.steps));
    const std::vector<std::string> lines = lines_of(problem.reasoning);
    REQUIRE(lines.size() == problem.equations.size());
    std::vector<std::string> stated;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Equation& equation = problem.equations[i];
      std::istringstream line(lines[i]);
      std::int64_t left = 0, right = 0, result = 0;
      char op = 0, equals = 0;
      line >> left >> op >> right >> equals >> result;
      REQUIRE_FALSE(line.fail());
      CHECK(line.eof());
      CHECK(equals == '=');
      CHECK(equation.left == left);
      CHECK(equation.right == right);
      CHECK(std::string_view("+-*/")[static_cast<std::size_t>(equation.op)] == op);
      const bool is_right = op == '+'   ? left + right == result
                            : op == '-' ? left - right == result
                            : op == '*' ? left * right == result
                                        : left == right * result;
      CHECK_MESSAGE(is_right, lines[i]);
      if (i > 0) CHECK(problem.equations[i - 1].result() == left);
      if (i == 0) stated.push_back(std::to_string(left));
      stated.push_back(std::to_string(right));
    }
    std::vector<std::string> numbers;
    for (const std::string& word : words_of(problem.question)) {
      if (is_number(word)) numbers.push_back(word);
    }
    CHECK(numbers == stated);
    CHECK(problem.result == problem.equations.back().result());
  });
}

TEST_CASE("no held-out sum or difference is trained on, and tests have no others") {
  std::array<std::int64_t, 4> num_trained{};
  std::array<std::int64_t, 4> num_tested{};
  for (const bool held_out : {false, true}) {
    for (const Problem& problem : problems(held_out)) {
      for (const Equation& equation : problem.equations) {
        const auto op = static_cast<std::size_t>(equation.op);
        ++(held_out ? num_tested : num_trained)[op];
        CAPTURE(equation.text());
        if (op < 2) CHECK(is_held_out(equation) == held_out);
      }
    }
  }
  for (std::size_t op = 0; op < 4; ++op) {
    CAPTURE(op);
    CHECK(num_trained[op] > 1000);
    CHECK(num_tested[op] > 100);
  }
}

TEST_CASE("a tenth of all sums and differences is held out, in both orders of a sum, and no product or quotient") {
  for (const Op op : {Op::kAdd, Op::kSubtract}) {
    int num_held_out = 0;
    for (std::int64_t a = 1; a <= kMaxNumber; ++a) {
      for (std::int64_t b = 1; b <= kMaxNumber; ++b) num_held_out += is_held_out({a, op, b}) ? 1 : 0;
    }
    CHECK(num_held_out > 3600);
    CHECK(num_held_out < 4400);
  }
  for (std::int64_t a = 1; a <= kMaxNumber; ++a) {
    for (std::int64_t b = 1; b <= 20; ++b) {
      CHECK(is_held_out({a, Op::kAdd, b}) == is_held_out({b, Op::kAdd, a}));
      CHECK_FALSE(is_held_out({a, Op::kMultiply, b}));
      CHECK_FALSE(is_held_out({a * b, Op::kDivide, b}));
    }
  }
}

TEST_CASE("the hash of the held-out rule is what it always was") {
  std::uint64_t hash = 0xCBF29CE484222325;  // FNV-1a over the answers
  for (std::int64_t a = 1; a <= kMaxNumber; ++a) {
    for (std::int64_t b = 1; b <= kMaxNumber; ++b) {
      for (const Op op : {Op::kAdd, Op::kSubtract}) {
        hash = (hash ^ (is_held_out({a, op, b}) ? 1U : 0U)) * 0x100000001B3;
      }
    }
  }
  CHECK(hash == 0xBECD0B70252A3C3AU);
}

TEST_CASE("all numbers are from 1 to 200, factors are small and quotients exact") {
  for_all([](const Problem& problem) {
    for (const Equation& equation : problem.equations) {
      CAPTURE(equation.text());
      for (const std::int64_t number : {equation.left, equation.right, equation.result()}) {
        CHECK(number >= 1);
        CHECK(number <= kMaxNumber);
      }
      if (equation.op == Op::kMultiply || equation.op == Op::kDivide) {
        CHECK(equation.right >= 2);
        CHECK(equation.right <= 10);
        CHECK((equation.op == Op::kMultiply ? equation.left : equation.result()) <= 25);
      }
    }
  });
}

TEST_CASE("steps are as asked for, mostly one or two") {
  std::array<int, 5> count{};
  for (const Problem& problem : problems(false)) ++count[static_cast<std::size_t>(problem.steps)];
  CHECK(count[1] > kNumTraining * 2 / 5);
  CHECK(count[2] > kNumTraining * 2 / 5);
  CHECK(count[3] > kNumTraining / 20);
  CHECK(count[4] > kNumTraining / 40);
  for (int steps = 1; steps <= 4; ++steps) {
    for (std::int64_t i = 0; i < 50; ++i) {
      CHECK(make_problem(3, i, {.held_out = true, .min_steps = steps, .max_steps = steps}).steps == steps);
    }
  }
}

TEST_CASE("numbers and nouns agree, and no placeholder is left") {
  std::set<std::string> singular;
  std::set<std::string> plural_only;
  for (const auto nouns : {objects(), animals(), people(), containers()}) {
    for (const Noun& noun : nouns) {
      singular.insert(std::string(noun.singular));
      if (noun.plural != noun.singular) plural_only.insert(std::string(noun.plural));
    }
  }
  for (const std::string unit : {"dollar", "page", "kilometer", "point", "liter"}) {
    singular.insert(unit);
    plural_only.insert(unit + "s");
  }
  for (const std::string& both : singular) plural_only.erase(both);
  for (const std::string& plural : plural_only) singular.erase(plural);
  singular.erase("sheep");
  int num_ones = 0;
  for_all([&](const Problem& problem) {
    const std::string text = problem.question + " " + problem.answer_sentence;
    CHECK(text.find_first_of("{", problem.question.size()) == text.find("{", text.find("\\boxed")));
    CHECK(problem.question.find_first_of("{}\\") == std::string::npos);
    CHECK(text.find("  ") == std::string::npos);
    const std::vector<std::string> words = words_of(text);
    for (std::size_t i = 0; i + 2 < words.size(); ++i) {
      if (!is_number(words[i])) continue;
      const bool has_more = words[i + 1] == "more" || words[i + 1] == "fewer" || words[i + 1] == "new";
      const std::string& noun = words[i + (has_more ? 2 : 1)];
      CAPTURE(noun);
      num_ones += words[i] == "1" ? 1 : 0;
      CHECK_FALSE((words[i] == "1" ? plural_only : singular).contains(noun));
    }
    CHECK(text.find("are \\boxed{1} ") == std::string::npos);
    CHECK(text.find("were \\boxed{1} ") == std::string::npos);
    CHECK(text.find("were 1 ") == std::string::npos);
  });
  CHECK(num_ones > 100);
}

TEST_CASE("the result can be read out of the answer") {
  for_all([](const Problem& problem) {
    CHECK(boxed_result(problem.answer_sentence) == problem.result);
    CHECK(boxed_result(completion_text(problem)) == problem.result);
  });
  CHECK(boxed_result("\\boxed{1} and \\boxed{-23}") == -23);
  CHECK(boxed_result("\\boxed{1} and \\boxed{2") == 1);
  for (const char* text : {"", "boxed{1}", "\\boxed{", "\\boxed{}", "\\boxed{x}", "\\boxed{1 2}", "\\boxed{1.5}",
                           "\\boxed{99999999999999999999}", "\\boxed{3} \\boxed{y}"}) {
    CAPTURE(text);
    CHECK_FALSE(boxed_result(text).has_value());
  }
}

TEST_CASE("a conversation holds the question, and the answer with its thinking") {
  const Problem problem = make_problem(1, 3, {});
  const auto messages = conversation(problem);
  REQUIRE(messages.size() == 2);
  CHECK(messages[0].role == "user");
  CHECK(messages[0].content == problem.question);
  CHECK(messages[1].role == "assistant");
  CHECK(messages[1].content == "<think>\n" + problem.reasoning + "\n</think>\n" + problem.answer_sentence);
}

TEST_CASE("options that make no sense are refused") {
  CHECK_THROWS_AS((void)make_problem(1, 0, {.min_steps = 0}), Error);
  CHECK_THROWS_AS((void)make_problem(1, 0, {.max_steps = 5}), Error);
  CHECK_THROWS_AS((void)make_problem(1, 0, {.min_steps = 3, .max_steps = 2}), Error);
  CHECK_THROWS_AS((void)make_problem(1, -1, {}), Error);
  CHECK_THROWS_AS((void)(Equation{7, Op::kDivide, 2}.result()), Error);
  EquationSet set;
  CHECK_THROWS_AS(set.insert({201, Op::kAdd, 1}), Error);
}

TEST_CASE("an equation set holds what was put in") {
  EquationSet set;
  set.insert({6, Op::kMultiply, 7});
  CHECK(set.contains({6, Op::kMultiply, 7}));
  CHECK_FALSE(set.contains({7, Op::kMultiply, 6}));
  CHECK_FALSE(set.contains({6, Op::kAdd, 7}));
}

}  // namespace minitorch::test
