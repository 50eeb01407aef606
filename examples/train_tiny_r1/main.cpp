// train_tiny_r1: makes the embedded pair. Every stage is skipped when its result is there, and training goes on from
// its checkpoint.
//   train_tiny_r1 models/tiny_r1
#include <fstream>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "examples/common/interrupt.h"
#include "examples/common/program.h"
#include "examples/train_tiny_r1/batches.h"
#include "examples/train_tiny_r1/build_tokenizer.h"
#include "examples/train_tiny_r1/evaluation.h"
#include "examples/train_tiny_r1/handwritten_problems.h"
#include "examples/train_tiny_r1/options.h"
#include "examples/train_tiny_r1/tiny_configs.h"
#include "examples/train_tiny_r1/trainer.h"
#include "kernels/kernel_table.h"
#include "minitorch/base/check.h"
#include "minitorch/ops/fused.h"
#include "models/load.h"
#include "models/save.h"
#include "models/trainable_decoder.h"

namespace minitorch::train_tiny_r1 {
namespace {

constexpr std::int32_t kMaxNewTokens = 200;
constexpr int kEvaluationSteps = 2;
constexpr std::int64_t kProblemsInBatch = 48;  // of 4096 rows, about

std::filesystem::path model_folder(const Options& options, std::string_view name) { return options.folder / name; }

bool is_finished(const Options& options, std::string_view name) {
  const std::filesystem::path folder = model_folder(options, name);
  return std::filesystem::exists(folder / "config.json") && std::filesystem::exists(folder / "model.safetensors");
}

void make_tokenizer(const Options& options) {
  const std::filesystem::path folder = model_folder(options, "target");
  if (std::filesystem::exists(folder / "tokenizer.json")) return;
  std::filesystem::create_directories(folder);
  build_tokenizer(folder, options.seed, static_cast<std::int32_t>(options.vocab_size));
  fmt::print("tokenizer: {}\n", (folder / "tokenizer.json").string());
}

// One line for people now and then, one JSON line for every step.
Report make_report(const Options& options, std::string_view name) {
  std::filesystem::create_directories(options.work);
  const auto log = std::make_shared<std::ofstream>(options.work / fmt::format("{}_log.jsonl", name), std::ios::app);
  return [log, name = std::string(name), steps = options.steps, rows = options.batch_tokens](const StepReport& report) {
    *log << fmt::format(R"({{"step":{},"loss":{:.6f},"grad_norm":{:.6f},"lr":{:.6g},"step_s":{:.4f}}})", report.step,
                        report.loss, report.grad_norm, report.lr, report.step_s)
         << std::endl;
    if (report.step % 10 != 0 && report.step + 1 != steps) return;
    fmt::print("{} {}/{}  loss {:.4f}  {:.0f} tokens/s  {:.1f} GFLOP/s  {:.0f} min left\n", name, report.step, steps,
               report.loss, static_cast<double>(rows) / report.step_s, report.gflops, report.left_s / 60.0);
    std::fflush(stdout);
  };
}

TrainOptions train_options(const Options& options, std::string_view name) {
  return {.steps = options.steps,
          .peak_lr = options.lr,
          .floor_lr = options.lr / 10.0,
          .warmup = std::min<std::int64_t>(100, options.steps),
          .stop_after = options.stop_after,
          .checkpoint = options.work / fmt::format("{}_checkpoint.safetensors", name),
          .recipe = fmt::format("seed {}, {} steps of {} tokens, learning rate {}, {} tokens", options.seed,
                                options.steps, options.batch_tokens, options.lr, options.vocab_size)};
}

// Trains a model and writes its folder; false when it stopped before the end.
bool train_model(const Options& options, std::string_view name, const models::Tokenizer& tokenizer,
                 models::TrainableDecoder& model, const Loss& loss) {
  fmt::print("{}\n", to_string(model));
  const Batches batches(tokenizer, options.seed, options.batch_tokens);
  catch_interrupt();  // a checkpoint is written first; the other stages end at once
  const bool finished =
      train(model, batches, loss, train_options(options, name), interrupted(), make_report(options, name));
  release_interrupt();
  if (!finished) {
    fmt::print("{}: stopped; run again to go on\n", name);
    return false;
  }
  models::save_model(model_folder(options, name), model.config(), model.checkpoint_tensors(DType::kBF16));
  fmt::print("{}: {}\n", name, model_folder(options, name).string());
  return true;
}

bool train_target(const Options& options) {
  if (is_finished(options, "target")) {
    fmt::print("target: finished in {}\n", model_folder(options, "target").string());
    return true;
  }
  const auto tokenizer = models::Tokenizer::from_directory(model_folder(options, "target"));
  models::TrainableDecoder model(target_config(tokenizer), options.seed);
  return train_model(options, "target", tokenizer, model, [&](const Batch& batch) {
    return ops::cross_entropy(model.forward(batch.tokens, batch.begins), batch.targets);
  });
}

void copy_tokenizer(const Options& options) {
  std::filesystem::create_directories(model_folder(options, "draft"));
  for (const char* name : {"tokenizer.json", "tokenizer_config.json"}) {
    std::filesystem::copy_file(model_folder(options, "target") / name, model_folder(options, "draft") / name,
                               std::filesystem::copy_options::overwrite_existing);
  }
}

bool train_draft(const Options& options) {
  if (is_finished(options, "draft")) {
    fmt::print("draft: finished in {}\n", model_folder(options, "draft").string());
    return true;
  }
  MT_CHECK(is_finished(options, "target"), "draft: expected a finished target in {}", options.folder.string());
  const auto tokenizer = models::Tokenizer::from_directory(model_folder(options, "target"));
  models::TrainableDecoder teacher(target_config(tokenizer), options.seed);
  teacher.load_checkpoint_tensors(models::read_checkpoint_tensors(model_folder(options, "target")));
  models::TrainableDecoder model(draft_config(tokenizer), options.seed + 1);
  copy_tokenizer(options);
  return train_model(options, "draft", tokenizer, model, [&](const Batch& batch) {
    Tensor probabilities;
    {
      const NoGradGuard no_grad;
      probabilities = ops::softmax(teacher.forward(batch.tokens, batch.begins));
    }
    return ops::soft_cross_entropy(model.forward(batch.tokens, batch.begins), probabilities);
  });
}

void print_tally(std::string_view what, const Tally& tally) {
  if (tally.total == 0) return;
  fmt::print("  {:<28} {:>5} of {:>5}  {:.1f} %\n", what, tally.right, tally.total,
             100.0 * static_cast<double>(tally.right) / static_cast<double>(tally.total));
}

void print_accuracy(std::string_view title, const Accuracy& accuracy) {
  fmt::print("{}\n", title);
  print_tally("all", accuracy.all);
  for (std::size_t steps = 1; steps < accuracy.by_steps.size(); ++steps) {
    print_tally(fmt::format("{} step{}", steps, steps == 1 ? "" : "s"), accuracy.by_steps[steps]);
  }
  print_tally("with * or /, all seen", accuracy.products_seen);
  print_tally("with * or /, some unseen", accuracy.products_unseen);
}

void evaluate(const Options& options, const Runtime& runtime) {
  const models::LoadedModel target = models::load_model(model_folder(options, "target"), runtime);
  const EquationSet seen = training_equations(options.seed, options.steps, kProblemsInBatch);
  std::int64_t to_show = options.show;
  const Show show = [&](const Question& question, const std::string& text, bool is_right) {
    if (to_show-- > 0) fmt::print("{}\n{}\n[{}]\n\n", question.text, text, is_right ? "right" : "wrong");
  };
  const auto questions = held_out_questions(options.evaluation_seed, options.count, kEvaluationSteps, seen);
  print_accuracy(
      fmt::format("target, {} unseen problems of one and two steps (seed {})", options.count, options.evaluation_seed),
      measure_accuracy(*target.model, target.tokenizer, questions, kMaxNewTokens, show));
  std::vector<Question> handwritten;
  for (const HandwrittenProblem& problem : handwritten_problems()) {
    handwritten.push_back({.text = std::string(problem.question), .result = problem.result});
  }
  print_accuracy("target, problems written by hand",
                 measure_accuracy(*target.model, target.tokenizer, handwritten, kMaxNewTokens, show));
  if (!is_finished(options, "draft")) return;
  const models::LoadedModel draft = models::load_model(model_folder(options, "draft"), runtime);
  print_accuracy("draft on its own", measure_accuracy(*draft.model, draft.tokenizer, questions, kMaxNewTokens));
  const auto first = std::vector<Question>(questions.begin(),
                                           questions.begin() + std::min<std::ptrdiff_t>(100, std::ssize(questions)));
  const Acceptance acceptance =
      measure_acceptance(*target.model, *draft.model, target.tokenizer, first, /*gamma=*/4, kMaxNewTokens);
  fmt::print("pair, gamma 4, {} prompts: acceptance rate {:.3f}, {} tokens in {} target passes, {} differences\n",
             first.size(), static_cast<double>(acceptance.accepted) / static_cast<double>(acceptance.proposed),
             acceptance.tokens, acceptance.target_passes, acceptance.differences);
}

// For run_spec_decoding --prompts.
void print_problems(const Options& options) {
  for (const Question& question :
       held_out_questions(options.evaluation_seed, options.count, kEvaluationSteps, EquationSet())) {
    fmt::print("{}\n", nlohmann::ordered_json{{"prompt", question.text}, {"result", question.result}}.dump());
  }
}

int run(int argc, const char* const* argv) {
  const Options options = parse_options(argc, argv);
  if (options.stage == "problems") {
    print_problems(options);
    return kExitOk;
  }
  ThreadPool threads(options.threads);
  const Runtime runtime{.table = &kernels::best_cpu_table(), .threads = &threads};
  const ExecutionScope scope({.runtime = runtime});
  const bool all = options.stage == "all";
  if (all || options.stage == "tokenizer") make_tokenizer(options);
  if ((all || options.stage == "target") && !train_target(options)) return kExitOk;
  if ((all || options.stage == "draft") && !train_draft(options)) return kExitOk;
  if (all || options.stage == "evaluate") evaluate(options, runtime);
  return kExitOk;
}

}  // namespace
}  // namespace minitorch::train_tiny_r1

int main(int argc, char** argv) {
  return minitorch::run_program("train_tiny_r1", [&] { return minitorch::train_tiny_r1::run(argc, argv); });
}
