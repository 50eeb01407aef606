// Session::Delivery: tokens, their text and the end.
#include "speculative/delivery.h"

#include "speculative/stopwatch.h"

namespace minitorch::spec {

Session::Delivery::Delivery(const models::Tokenizer* tokenizer, const GenerateOptions& options, std::int32_t context,
                            std::vector<std::int32_t>& history, const Callback& callback, GenerateResult& result)
    : history_(history),
      callback_(callback),
      result_(result),
      stopper_(options.end_tokens, options.max_new_tokens, static_cast<std::int32_t>(history.size()), context),
      text_(tokenizer, history, options.stop_strings) {}

void Session::Delivery::deliver(std::int32_t id, TokenOrigin origin) {
  history_.push_back(id);
  result_.ids.push_back(id);
  piece_.clear();
  std::optional<FinishReason> reason = stopper_.after(id, num_tokens());
  if (!stopper_.is_end_token(id) && text_.push(id, piece_)) {
    reason = FinishReason::kStop;
  } else if (reason.has_value() && text_.finish(piece_)) {
    reason = FinishReason::kStop;
  }
  result_.text += piece_;
  if (reason.has_value()) finish(*reason);
  const bool go_on = call_back({.id = id, .origin = origin, .text = piece_});
  if (!go_on && !finished_) abort();
}

bool Session::Delivery::call_back(const TokenEvent& event) {
  if (!callback_) return true;
  const Stopwatch watch;
  const bool go_on = callback_(event);
  callback_s_ += watch.seconds();
  return go_on;
}

void Session::Delivery::abort() {
  finish(FinishReason::kAborted);
  static_cast<void>(text_.finish(result_.text));
}

void Session::Delivery::finish(FinishReason reason) {
  result_.finish_reason = reason;
  finished_ = true;
}

}  // namespace minitorch::spec
