// Session::Delivery: takes the tokens that stand, hands them to the callback with their text, and notices the end.
#pragma once

#include <string>

#include "speculative/session.h"
#include "speculative/stopper.h"
#include "speculative/text_stream.h"

namespace minitorch::spec {

class Session::Delivery {
 public:
  // Appends to `result` and to `history`, which holds the prompt; all references outlive it.
  Delivery(const models::Tokenizer* tokenizer, const GenerateOptions& options, std::int32_t context,
           std::vector<std::int32_t>& history, const Callback& callback, GenerateResult& result);

  [[nodiscard]] bool finished() const { return finished_; }
  // How many tokens may still come.
  [[nodiscard]] std::int32_t room() const { return stopper_.room(num_tokens()); }
  // Delivers one token, which may finish the text.
  void deliver(std::int32_t id, TokenOrigin origin);
  // Time spent in the callback so far.
  [[nodiscard]] double callback_s() const { return callback_s_; }
  // Ends the text here because somebody asked for it.
  void abort();

 private:
  [[nodiscard]] std::int32_t num_tokens() const { return static_cast<std::int32_t>(result_.ids.size()); }
  void finish(FinishReason reason);
  bool call_back(const TokenEvent& event);

  std::vector<std::int32_t>& history_;
  const Callback& callback_;
  GenerateResult& result_;
  Stopper stopper_;
  TextStream text_;
  std::string piece_;
  bool finished_ = false;
  double callback_s_ = 0.0;
};

}  // namespace minitorch::spec
