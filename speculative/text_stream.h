// TextStream: the text of generated tokens, piece by piece, cut at the first stop string.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/tokenizer/tokenizer.h"

namespace minitorch::spec {

// Lets text through except what may still become a stop string.
class StopMatcher {
 public:
  // Throws Error on a stop string that is empty or no valid UTF-8.
  explicit StopMatcher(std::span<const std::string> stop_strings);

  // Takes more text and appends to `out` what is certain. True: a stop string is complete; the text ends before it, and
  // what was pushed behind it is dropped. Of several complete ones the one that begins first counts.
  bool push(std::string_view text, std::string& out);
  // Appends to `out` what was held back, at the end of the text.
  void flush(std::string& out);

 private:
  [[nodiscard]] std::size_t undecided_bytes() const;

  std::vector<std::string> stop_strings_;
  std::string held_;
};

class TextStream {
 public:
  // The text goes on behind that of the tokens `prompt`. Without a tokenizer all text is empty.
  TextStream(const models::Tokenizer* tokenizer, std::span<const std::int32_t> prompt,
             std::span<const std::string> stop_strings);

  // Takes the next token and appends to `out` the text that is certain now: no part of a stop string, no half
  // character. True: a stop string is complete and the text ends.
  bool push(std::int32_t id, std::string& out);
  // Ends the text: appends what was held back. True: a stop string was completed by it.
  bool finish(std::string& out);

 private:
  std::optional<models::StreamDecoder> decoder_;
  StopMatcher matcher_;
};

}  // namespace minitorch::spec
