// A conversation with a target and a drafter: its history, its settings, and sessions whose caches hold what was said.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "examples/run_spec_decoding/loading.h"
#include "examples/run_spec_decoding/options.h"
#include "examples/run_spec_decoding/record.h"
#include "models/chat_template/chat_template.h"
#include "speculative/session.h"

namespace minitorch::run_spec_decoding {

class Conversation {
 public:
  // All outlive it. Without --raw the tokenizer needs a known chat template; throws Error that says so.
  Conversation(ModelPair& models, const Options& options, const spec::SamplingOptions& sampling);

  // Settings of the turns to come. They throw Error where the value makes no sense here; then nothing has changed.
  void set_gamma(std::int32_t gamma);
  void set_drafter(const std::string& name);
  void set_max_new_tokens(std::int32_t count) { options_.max_new_tokens = count; }
  void set_temperature(double temperature);
  void set_seed(std::uint64_t seed) { sampling_.seed = seed; }
  // Whether turns are also decoded plainly. Returns the new state.
  bool toggle_plain() { return options_.baseline = !options_.baseline; }

  // Forgets what was said.
  void clear();

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] Settings settings() const { return settings_of(options_, sampling_, verifier()); }
  [[nodiscard]] std::size_t num_turns() const { return history_.size() / 2; }

  // What the model would read, with the message as the user's next turn. Throws Error when there is no room in the
  // context for it and one new token.
  struct Input {
    std::string message;
    std::vector<std::int32_t> ids;
    bool in_reasoning = false;  // the model begins inside its reasoning
  };
  [[nodiscard]] Input input_of(const std::string& message) const;

  // The model's answer. A turn is remembered when it has one: not when it ends inside the reasoning, and never with
  // --raw.
  [[nodiscard]] Record answer(const Input& input, const spec::Session::Callback& callback);
  // With plain runs on and the answer complete: adds what the target alone says, and the comparison.
  void add_plain_run(const Input& input, Record& record);

 private:
  [[nodiscard]] spec::GenerateResult generate(spec::Session& session, const Input& input,
                                              const spec::Session::Callback& callback);
  void remember(const std::string& message, const Record& record);
  void use_settings();
  [[nodiscard]] const spec::Verifier& verifier() const;

  ModelPair& models_;
  Options options_;
  spec::SamplingOptions sampling_;
  std::unique_ptr<models::ChatTemplate> chat_;  // null with --raw
  std::unique_ptr<spec::Verifier> verifier_;
  std::unique_ptr<spec::Verifier> plain_verifier_;
  std::unique_ptr<spec::Drafter> drafter_;
  std::optional<spec::Session> session_;
  std::optional<spec::Session> plain_session_;  // made when first asked for: it has a cache of its own
  std::vector<models::ChatMessage> history_;    // user and assistant in turn
};

}  // namespace minitorch::run_spec_decoding
