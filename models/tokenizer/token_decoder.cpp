// A decode stream: the stages in a chain that ends in a text.
#include "models/tokenizer/token_decoder.h"

#include <utility>

#include "models/tokenizer/decode_stages.h"

namespace minitorch::models {
namespace {

class TextSink : public DecodeStage {
 public:
  void push(std::string_view fragment, bool /*ends_token*/) override { text += fragment; }
  void finish() override {}
  std::string text;
};

}  // namespace

struct DecodeStream::State {
  explicit State(const std::vector<DecoderStep>& decoder_steps) : steps(decoder_steps) {}

  const std::vector<DecoderStep>& steps;
  PatternScratch scratch;
  TextSink sink;
  std::vector<std::unique_ptr<DecodeStage>> stages;  // from the last to the first
  DecodeStage* first = &sink;
};

DecodeStream::DecodeStream(const std::vector<DecoderStep>& steps) : state_(std::make_unique<State>(steps)) {
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    state_->stages.push_back(make_decode_stage(*step, *state_->first, state_->scratch));
    state_->first = state_->stages.back().get();
  }
}
DecodeStream::DecodeStream(DecodeStream&&) noexcept = default;
DecodeStream& DecodeStream::operator=(DecodeStream&&) noexcept = default;
DecodeStream::~DecodeStream() = default;

// A token goes through, so that each step has seen its first. Where nothing comes out at once, a step drops it or holds
// back all until the end: then the stream begins as ever.
void DecodeStream::begin_behind_text() {
  push("a");
  if (take().empty()) *this = DecodeStream(state_->steps);
}

void DecodeStream::push(std::string_view token) { state_->first->push(token, /*ends_token=*/true); }
void DecodeStream::finish() { state_->first->finish(); }
std::string DecodeStream::take() { return std::exchange(state_->sink.text, {}); }

}  // namespace minitorch::models
