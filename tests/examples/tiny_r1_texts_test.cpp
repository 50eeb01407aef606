// What train_tiny_r1 makes of problems: its tokenizer, and the problems written by hand beside the generated ones.
#include <doctest/doctest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "examples/train_tiny_r1/build_tokenizer.h"
#include "examples/train_tiny_r1/handwritten_problems.h"
#include "examples/train_tiny_r1/problem_generator.h"
#include "examples/train_tiny_r1/sentence_forms.h"
#include "minitorch/io/json.h"
#include "models/tokenizer/tokenizer.h"
#include "tests/support/data.h"

namespace minitorch::test {

using namespace train_tiny_r1;

TEST_CASE("the 30 problems written by hand differ, and all their sentences have forms of the generator") {
  REQUIRE(handwritten_problems().size() == 30);
  std::vector<std::regex> forms;
  const auto add = [&](std::string_view form) {
    std::string pattern = std::regex_replace(std::string(form), std::regex(R"([.?])"), R"(\$&)");
    pattern = std::regex_replace(pattern, std::regex(R"(\{[xy]\})"), "[0-9]+");
    forms.emplace_back(std::regex_replace(pattern, std::regex(R"(\{[a-zA-Z]+\})"), "[A-Za-z]+"));
  };
  for (const Theme& theme : themes()) {
    for (const OpeningForm& opening : theme.openings) add(opening.text);
    for (const StepForm& step : theme.steps) {
      add(step.text);
      if (step.kind == StepKind::kIsLast) add(step.ending.question);
    }
    for (const Ending& ending : theme.endings) add(ending.question);
  }
  std::set<std::string_view> questions;
  const std::regex sentence(R"([A-Z][^.?]*[.?])");
  for (const HandwrittenProblem& problem : handwritten_problems()) {
    questions.insert(problem.question);
    CHECK(problem.result >= 1);
    CHECK(problem.result <= kMaxNumber);
    const std::string text(problem.question);
    std::ptrdiff_t num_sentences = 0;
    for (std::sregex_iterator match(text.begin(), text.end(), sentence), end; match != end; ++match, ++num_sentences) {
      CAPTURE(match->str());
      CHECK(std::any_of(forms.begin(), forms.end(),
                        [&](const std::regex& form) { return std::regex_match(match->str(), form); }));
    }
    CHECK(num_sentences >= 2);
    CHECK(num_sentences <= 4);
  }
  CHECK(questions.size() == 30);
}

TEST_CASE("the tokenizer of the problems is the same each time and needs few tokens for a problem") {
  const TemporaryFolder folder;
  build_tokenizer(folder.path() / "a", 1, 2048);
  build_tokenizer(folder.path() / "b", 1, 2048);
  build_tokenizer(folder.path() / "c", 2, 2048);
  const auto file = [&](const char* name) { return io::read_file(folder.path() / name / "tokenizer.json"); };
  CHECK(file("a") == file("b"));
  CHECK(file("a") != file("c"));
  const auto tokenizer = models::Tokenizer::from_directory(folder.path() / "a");
  const auto chat = models::make_chat_template(tokenizer);
  CHECK(tokenizer.size() == 2048);
  std::size_t num_tokens = 0;
  std::size_t longest = 0;
  constexpr std::int64_t kNumProblems = 1000;
  for (std::int64_t i = 0; i < kNumProblems; ++i) {
    const Problem problem = make_problem(9, i, {.held_out = true});
    const std::string text = chat->render(conversation(problem), /*add_generation_prompt=*/false);
    const std::vector<std::int32_t> ids = tokenizer.encode(text, /*add_special_tokens=*/false);
    CHECK(tokenizer.decode(ids) == text);
    num_tokens += ids.size();
    longest = std::max(longest, ids.size());
    CHECK(text.starts_with(chat->render({conversation(problem).front()}, /*add_generation_prompt=*/true)));
  }
  CHECK(num_tokens > 60 * kNumProblems);
  CHECK(num_tokens < 120 * kNumProblems);
  CHECK(longest < 256);
}

}  // namespace minitorch::test
