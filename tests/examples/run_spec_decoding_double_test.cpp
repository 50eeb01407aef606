// run_spec_decoding from inside, with doubles: a check that must fail does, and every run computes the whole prompt.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <utility>

#include "examples/run_spec_decoding/decoding.h"
#include "examples/run_spec_decoding/run.h"
#include "kernels/kernel_table.h"
#include "minitorch/base/thread_pool.h"
#include "tests/examples/spec_decoding_folders.h"
#include "tests/speculative/helpers.h"  // greedy

using namespace minitorch;
using namespace minitorch::test;
using run_spec_decoding::Options;

namespace {

// Takes the rows of the draft model for the target's: all that it drafted stands. Promises what it does not keep.
class DraftRowsVerifier : public spec::Verifier {
 public:
  explicit DraftRowsVerifier(bool promises = true) : promises_(promises) {}

  [[nodiscard]] std::string_view name() const override { return "draft-rows"; }
  [[nodiscard]] models::Want want() const override { return models::Want::kArgmax; }
  [[nodiscard]] bool lossless() const override { return promises_; }
  [[nodiscard]] spec::DraftSampling draft_sampling() const override { return spec::DraftSampling::kArgmax; }
  void check(const spec::SamplingOptions& /*sampling*/) const override {}
  [[nodiscard]] bool same_text_as_plain(const spec::SamplingOptions& /*sampling*/) const override { return promises_; }
  void verify(const spec::Draft& draft, const spec::TargetRows& rows, spec::Chooser& chooser,
              spec::Verdict& verdict) const override {
    models::Outputs draft_rows;
    draft_rows.argmax = draft.tokens;  // what its rows say is what it drafted
    draft_rows.argmax.push_back(rows.outputs().argmax.back());
    greedy().verify(draft, spec::TargetRows(draft_rows, 0, rows.sampling(), rows.buffer()), chooser, verdict);
  }

 private:
  bool promises_;
};

// Sends stdout to a file while it lives.
class CapturedStdout {
 public:
  CapturedStdout() : kept_(dup(STDOUT_FILENO)) {
    const int file = open(path().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    std::fflush(stdout);
    dup2(file, STDOUT_FILENO);
    close(file);
  }
  ~CapturedStdout() {
    std::fflush(stdout);
    dup2(kept_, STDOUT_FILENO);
    close(kept_);
  }
  CapturedStdout(const CapturedStdout&) = delete;
  CapturedStdout& operator=(const CapturedStdout&) = delete;

  [[nodiscard]] std::string text() const {
    std::fflush(stdout);
    return content_of(path());
  }

 private:
  [[nodiscard]] std::filesystem::path path() const { return folder_.path() / "out"; }

  TemporaryFolder folder_;
  int kept_;
};

Options options_with_draft(const std::string& draft) {
  Options options;
  options.target = tiny_model();
  options.draft = draft;
  options.drafter = "model";
  options.prompt = "abcab";
  options.raw = true;
  options.max_new_tokens = 12;
  options.ignore_eos = true;
  options.threads = 1;
  return options;
}

struct ProgramRun {
  int exit_code = -1;
  std::string out;
};

ProgramRun run_with(const Options& options, const spec::Verifier& verifier) {
  const CapturedStdout captured;
  const int exit_code = run_spec_decoding::run(options, &verifier);
  std::signal(SIGINT, SIG_DFL);  // run catches it
  return {.exit_code = exit_code, .out = captured.text()};
}

// Counts the rows that a model computes.
class CountingModel : public models::CausalLM {
 public:
  explicit CountingModel(std::unique_ptr<models::CausalLM> model) : model_(std::move(model)) {
    restrict_ids(model_->valid_ids());
  }

  [[nodiscard]] std::int32_t vocab_size() const override { return model_->vocab_size(); }
  [[nodiscard]] std::int32_t max_context() const override { return model_->max_context(); }
  [[nodiscard]] models::KVCache make_cache(std::int32_t capacity) const override {
    return model_->make_cache(capacity);
  }
  void forward(const models::Batch& batch, models::Outputs& outputs) override {
    rows_ += batch.rows.size();
    model_->forward(batch, outputs);
  }
  // Since the last call.
  std::size_t take_rows() { return std::exchange(rows_, 0); }

 private:
  std::unique_ptr<models::CausalLM> model_;
  std::size_t rows_ = 0;
};

}  // namespace

TEST_CASE(
    "the draft's rows taken for the target's break the promise of identity: exit code 3 and the first difference") {
  const ProgramRun wrong = run_with(options_with_draft(tiny_draft()), DraftRowsVerifier());
  CHECK(wrong.exit_code == 3);
  CHECK(wrong.out.find("identical: no (first difference at token ") != std::string::npos);
  const ProgramRun right = run_with(options_with_draft(tiny_draft()), greedy());
  CHECK(right.exit_code == 0);
  CHECK(right.out.find("identical: yes\n") != std::string::npos);
}

TEST_CASE("a verifier that promises no identity may give another text, and the two are not compared") {
  const ProgramRun result = run_with(options_with_draft(tiny_draft()), DraftRowsVerifier(/*promises=*/false));
  CHECK(result.exit_code == 0);
  CHECK(result.out.find("identical: n/a") != std::string::npos);
}

TEST_CASE("every run computes the whole prompt again, in the draft model too") {
  const Options options = options_with_draft(tiny_draft());
  ThreadPool threads(1);
  const Runtime runtime{.table = &kernels::best_cpu_table(), .threads = &threads};
  run_spec_decoding::ModelPair pair = run_spec_decoding::load_models(options, runtime);
  CountingModel draft(std::move(pair.draft->model));
  const auto drafter =
      spec::find_drafter("model").make({.draft_model = &draft, .target_model = pair.target.model.get()});
  run_spec_decoding::Runs runs(pair.target, drafter.get(), greedy(), options, /*sampling=*/{});
  std::vector<run_spec_decoding::Prompt> prompts = run_spec_decoding::read_prompts(options);
  run_spec_decoding::encode_prompts(prompts, options, pair.target);
  runs.begin_prompt();
  runs.decode(prompts.front(), /*measured=*/true, {});
  const std::size_t first = draft.take_rows();
  CHECK(first > prompts.front().ids.size());
  runs.decode(prompts.front(), /*measured=*/true, {});
  CHECK(draft.take_rows() == first);
  CHECK(runs.num_measured() == 2);
}
