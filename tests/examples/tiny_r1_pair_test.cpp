// The embedded pair as it is shipped: what it can do, and that speculation with it changes nothing.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "examples/run_spec_decoding/prompts.h"
#include "examples/train_tiny_r1/evaluation.h"
#include "examples/train_tiny_r1/handwritten_problems.h"
#include "minitorch/autograd/node.h"
#include "speculative/session.h"
#include "tests/examples/tiny_r1_pair.h"

namespace minitorch::test {
namespace {

using namespace train_tiny_r1;
using run_spec_decoding::kSamplePrompt;

double share(const Tally& tally) { return static_cast<double>(tally.right) / static_cast<double>(tally.total); }

// Texts of all prompts under a drafter (null: plain decoding).
std::vector<std::vector<std::int32_t>> decode_all(const std::vector<Question>& asked, spec::Drafter* drafter,
                                                  std::int32_t gamma) {
  const auto verifier = spec::find_verifier("greedy").make();
  spec::Session session(*target().model, &target().tokenizer, drafter, *verifier);
  spec::GenerateOptions options;
  options.gamma = gamma;
  options.max_new_tokens = kMaxNewTokens;
  options.end_tokens = target().config.eos_token_ids;
  std::vector<std::vector<std::int32_t>> texts;
  for (const Question& question : asked) texts.push_back(session.generate(prompt_of(question), options).ids);
  return texts;
}

}  // namespace

TEST_CASE("the target solves most unseen problems of one and two steps, whatever their seed") {
  for (const std::uint64_t seed : {1000, 1001}) {
    CAPTURE(seed);
    const Accuracy accuracy =
        measure_accuracy(*target().model, target().tokenizer, questions(seed, full_tests() ? 500 : 30), kMaxNewTokens);
    CHECK(share(accuracy.all) >= 0.7);
  }
}

TEST_CASE("the target solves at least half of the problems written by hand") {
  std::vector<Question> asked;
  for (const HandwrittenProblem& problem : handwritten_problems()) {
    asked.push_back({.text = std::string(problem.question), .result = problem.result});
  }
  REQUIRE(asked.size() == 30);
  CHECK(share(measure_accuracy(*target().model, target().tokenizer, asked, kMaxNewTokens).all) >= 0.5);
}

TEST_CASE("the target accepts between half and 95 % of the draft's tokens, and the text stays its own") {
  const Acceptance acceptance = measure_acceptance(*target().model, *draft().model, target().tokenizer,
                                                   questions(2000, full_tests() ? 100 : 12), 4, kMaxNewTokens);
  REQUIRE(acceptance.proposed > 0);
  const double rate = static_cast<double>(acceptance.accepted) / static_cast<double>(acceptance.proposed);
  CHECK(rate > 0.5);
  CHECK(rate < 0.95);
  CHECK(acceptance.differences == 0);
}

TEST_CASE("with the pair every drafter and draft length gives the text of plain decoding") {
  const auto asked = questions(3000, full_tests() ? 200 : 4);
  const auto plain = decode_all(asked, nullptr, 0);
  spec::DrafterOptions options;
  options.draft_model = draft().model.get();
  options.target_model = target().model.get();
  for (const char* name : {"model", "ngram"}) {
    CAPTURE(name);
    const auto drafter = spec::find_drafter(name).make(options);
    for (std::int32_t gamma = 1; gamma <= 8; ++gamma) {
      CAPTURE(gamma);
      CHECK(decode_all(asked, drafter.get(), gamma) == plain);
    }
  }
}

// The second half of report B39.
TEST_CASE("a thousand generated tokens leave no node of a graph") {
  std::size_t tokens = 0;
  for (const auto& text : decode_all(questions(4000, 40), nullptr, 0)) tokens += text.size();
  CHECK(tokens >= 1000);
  CHECK(autograd::live_nodes() == 0);
}

TEST_CASE("the answer to the sample prompt stands in the README as it is") {
  std::ifstream file(std::filesystem::path(MINITORCH_SOURCE_DIR) / "README.md");
  std::stringstream readme;
  readme << file.rdbuf();
  const auto answer = decode_all({{.text = std::string(kSamplePrompt), .result = 64}}, nullptr, 0).front();
  const std::string text = target().tokenizer.decode(answer, /*skip_special_tokens=*/true);
  CAPTURE(text);
  REQUIRE_FALSE(text.empty());
  CHECK(readme.str().find(text) != std::string::npos);
}

}  // namespace minitorch::test
