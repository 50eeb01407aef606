// TextStream and StopMatcher: when a piece of text is certain.
#include "speculative/text_stream.h"

#include <algorithm>

#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"

namespace minitorch::spec {

StopMatcher::StopMatcher(std::span<const std::string> stop_strings)
    : stop_strings_(stop_strings.begin(), stop_strings.end()) {
  for (const std::string& stop : stop_strings_) {
    MT_CHECK(!stop.empty(), "stop string: expected some text, got an empty string");
    MT_CHECK(is_valid_utf8(stop), "stop string: expected UTF-8 text, byte {} is not valid", valid_utf8_prefix(stop));
  }
}

bool StopMatcher::push(std::string_view text, std::string& out) {
  if (stop_strings_.empty()) {
    out += text;
    return false;
  }
  held_ += text;
  std::size_t first = std::string::npos;
  for (const std::string& stop : stop_strings_) first = std::min(first, held_.find(stop));
  if (first != std::string::npos) {
    out.append(held_, 0, first);
    held_.clear();
    return true;
  }
  const std::size_t certain = held_.size() - undecided_bytes();
  out.append(held_, 0, certain);
  held_.erase(0, certain);
  return false;
}

void StopMatcher::flush(std::string& out) {
  out += held_;
  held_.clear();
}

// Bytes at the end of the held text that begin a stop string.
std::size_t StopMatcher::undecided_bytes() const {
  const std::string_view held = held_;
  std::size_t longest = 0;
  for (const std::string_view stop : stop_strings_) {
    for (std::size_t size = std::min(stop.size() - 1, held.size()); size > longest; --size) {
      if (held.ends_with(stop.substr(0, size))) longest = size;
    }
  }
  return longest;
}

TextStream::TextStream(const models::Tokenizer* tokenizer, std::span<const std::int32_t> prompt,
                       std::span<const std::string> stop_strings)
    : matcher_(stop_strings) {
  MT_CHECK(tokenizer != nullptr || stop_strings.empty(), "generate: stop strings need a tokenizer");
  if (tokenizer != nullptr) decoder_ = tokenizer->stream_decoder(/*skip_special_tokens=*/true, prompt);
}

bool TextStream::push(std::int32_t id, std::string& out) {
  return decoder_.has_value() && matcher_.push(decoder_->push(id), out);
}

bool TextStream::finish(std::string& out) {
  if (!decoder_.has_value()) return false;
  const bool stopped = matcher_.push(decoder_->finish(), out);
  matcher_.flush(out);
  return stopped;
}

}  // namespace minitorch::spec
