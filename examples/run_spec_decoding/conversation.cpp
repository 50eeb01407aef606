// Turns of a conversation.
#include "examples/run_spec_decoding/conversation.h"

#include <utility>

#include "examples/run_spec_decoding/decoding.h"
#include "examples/run_spec_decoding/prompts.h"
#include "examples/run_spec_decoding/sampling.h"
#include "minitorch/base/check.h"
#include "models/chat_template/reasoning_splitter.h"

namespace minitorch::run_spec_decoding {
namespace {

// Somebody waits behind Ctrl-C: a pass over 64 rows of a 1.5B model takes about a second.
constexpr std::int32_t kPrefillChunk = 64;

}  // namespace

Conversation::Conversation(ModelPair& models, const Options& options, const spec::SamplingOptions& sampling)
    : models_(models),
      options_(options),
      sampling_(sampling),
      chat_(options.raw ? nullptr : chat_template_of(models.target.tokenizer)),
      verifier_(make_verifier(options.verifier, sampling)),
      plain_verifier_(spec::default_verifier(sampling).make()),
      drafter_(make_drafter(models, options.drafter, options)) {
  options_.baseline = false;
  use_settings();
}

void Conversation::use_settings() {
  if (session_.has_value()) {
    session_->use(drafter_.get(), verifier());
  } else {
    session_.emplace(*models_.target.model, &models_.target.tokenizer, drafter_.get(), verifier());
  }
  if (plain_session_.has_value()) plain_session_->use(nullptr, *plain_verifier_);
}

// Of drafts; without a drafter that of plain decoding.
const spec::Verifier& Conversation::verifier() const { return drafter_ != nullptr ? *verifier_ : *plain_verifier_; }

void Conversation::set_gamma(std::int32_t gamma) { options_.gamma = gamma; }

void Conversation::set_drafter(const std::string& name) {
  MT_CHECK(name != "model" || models_.draft.has_value(),
           "/drafter model: no draft model is loaded; --draft DIR names one when the program starts");
  std::unique_ptr<spec::Drafter> drafter = make_drafter(models_, name, options_);
  std::swap(drafter_, drafter);
  options_.drafter = name;
  use_settings();
}

void Conversation::set_temperature(double temperature) {
  spec::SamplingOptions sampling = sampling_;
  sampling.temperature = temperature;
  std::unique_ptr<spec::Verifier> verifier = make_verifier(options_.verifier, sampling);
  std::unique_ptr<spec::Verifier> plain_verifier = spec::default_verifier(sampling).make();
  std::swap(verifier_, verifier);
  std::swap(plain_verifier_, plain_verifier);
  sampling_ = sampling;
  use_settings();
}

void Conversation::clear() {
  history_.clear();
  session_->reset();
  if (plain_session_.has_value()) plain_session_->reset();
}

Conversation::Input Conversation::input_of(const std::string& message) const {
  Input input{.message = message, .ids = {}};
  std::string text = message;
  if (chat_ != nullptr) {
    std::vector<models::ChatMessage> messages;
    if (options_.system.has_value()) messages.push_back({.role = "system", .content = *options_.system});
    messages.insert(messages.end(), history_.begin(), history_.end());
    messages.push_back({.role = "user", .content = message});
    text = chat_->render(messages, /*add_generation_prompt=*/true);
  }
  input.in_reasoning = models::ends_in_reasoning(text);
  input.ids = models_.target.tokenizer.encode(text, /*add_special_tokens=*/chat_ == nullptr);
  check_prompt_ids(input.ids, "the conversation", models_.target);
  return input;
}

Record Conversation::answer(const Input& input, const spec::Session::Callback& callback) {
  Record record;
  record.prompt = input.message;
  record.settings = settings();
  record.in_reasoning = input.in_reasoning;
  record.speculative = generate(*session_, input, callback);
  record.repeat = record.speculative.finish_reason != spec::FinishReason::kAborted ? 1 : 0;
  remember(input.message, record);
  return record;
}

spec::GenerateResult Conversation::generate(spec::Session& session, const Input& input,
                                            const spec::Session::Callback& callback) {
  spec::GenerateOptions options = generate_options(models_.target, options_, sampling_);
  options.prefill_chunk = kPrefillChunk;
  return session.generate(input.ids, options, callback);
}

void Conversation::add_plain_run(const Input& input, Record& record) {
  if (!options_.baseline || record.repeat == 0) return;
  if (!plain_session_.has_value()) {
    plain_session_.emplace(*models_.target.model, &models_.target.tokenizer, nullptr, *plain_verifier_);
  }
  record.baseline = generate(*plain_session_, input, {});
  if (record.baseline->finish_reason == spec::FinishReason::kAborted) return;
  if (drafter_ != nullptr) record.speedup = speedup_of(record.speculative.stats, record.baseline->stats);
  if (verifier().same_text_as_plain(sampling_)) compare(record.speculative.ids, record.baseline->ids, record);
}

void Conversation::remember(const std::string& message, const Record& record) {
  if (chat_ == nullptr) return;
  models::SplitText split = models::split_reasoning(record.speculative.text, record.in_reasoning);
  if (split.answer.empty()) return;
  history_.push_back({.role = "user", .content = message});
  history_.push_back({.role = "assistant", .content = std::move(split.answer)});
}

}  // namespace minitorch::run_spec_decoding
