// The command line of train_tiny_r1.
#include "examples/train_tiny_r1/options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "examples/common/program.h"

namespace minitorch::train_tiny_r1 {
namespace {

constexpr const char* kExamples = R"(Examples:
  train_tiny_r1 pair                              tokenizer, target, draft and evaluation; goes on where it stopped
  train_tiny_r1 pair --stage target --stop-after 200
  train_tiny_r1 pair --stage evaluate --count 500 --evaluation-seed 7 --show 3
  train_tiny_r1 pair --stage problems --count 100 > problems.jsonl

Exit codes: 0 ok, 1 error, 2 usage.)";

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  CLI::App app("Trains a small target model on arithmetic word problems and distils a draft model from it.",
               "train_tiny_r1");
  Options options;
  std::string folder, work;
  app.add_option("DIR", folder, "Folder of the pair; gets the model folders target and draft")->required();
  app.add_option("--work", work, "Folder for checkpoints and logs; default: DIR.training")->type_name("DIR");
  app.add_option("--stage", options.stage,
                 "What to do: all, tokenizer, target, draft, evaluate, or problems: print unseen ones as JSON lines")
      ->check(CLI::IsMember({"all", "tokenizer", "target", "draft", "evaluate", "problems"}))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Seed of problems and initial weights")->capture_default_str();
  app.add_option("--steps", options.steps, "Training steps of target and draft")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}))
      ->capture_default_str();
  app.add_option("--batch-tokens", options.batch_tokens, "Rows of a training batch")
      ->check(CLI::Range(std::int64_t{256}, std::int64_t{16'384}))
      ->capture_default_str();
  app.add_option("--vocab-size", options.vocab_size, "Tokens of the tokenizer")
      ->check(CLI::Range(std::int64_t{300}, std::int64_t{2'048}))
      ->capture_default_str();
  app.add_option("--lr", options.lr, "Largest learning rate")->check(CLI::Range(1e-6, 1.0))->capture_default_str();
  app.add_option("--threads", options.threads, "Threads; results do not depend on them")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--stop-after", options.stop_after, "Write a checkpoint and stop after this many steps")
      ->check(CLI::Range(std::int64_t{1}, INT64_MAX))
      ->type_name("N");
  app.add_option("--count", options.count, "Problems to evaluate on")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}))
      ->capture_default_str();
  app.add_option("--evaluation-seed", options.evaluation_seed, "Seed of these problems")->capture_default_str();
  app.add_option("--show", options.show, "Print this many answers")->type_name("N");
  parse_command_line(app, argc, argv, kExamples);
  options.folder = folder;
  options.work = work.empty() ? folder + ".training" : work;
  return options;
}

}  // namespace minitorch::train_tiny_r1
