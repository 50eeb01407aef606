// Decoders: token texts to the text they stand for, as a stream.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/tokenizer/pattern.h"
#include "models/tokenizer/pre_tokenizer.h"  // PrependScheme

namespace minitorch::models {

// One step of a decoder, as tokenizer.json describes it. The steps of nested sequences stand in one list.
struct DecoderStep {
  enum class Kind : std::uint8_t {
    kByteLevel,     // the characters of the byte-level alphabet are bytes
    kReplace,       // pattern -> content, inside every token
    kByteFallback,  // runs of <0xXX> tokens are bytes
    kFuse,          // all tokens become one
    kStrip,         // removes `content` up to num_start times at the start and num_stop times at the end of every token
    kMetaspace,     // content -> space; dropped in the first token where spaces were put in front
    kJoinWithSpaces,  // when tokenizer.json has no decoder
  };
  Kind kind = Kind::kFuse;
  Pattern pattern = {};
  std::string content = {};
  std::size_t num_start = 0;
  std::size_t num_stop = 0;
  PrependScheme scheme = PrependScheme::kAlways;
};

// A step at work. Tokens arrive whole or, behind a step that joins tokens, in fragments that end at character borders.
class DecodeStage {
 public:
  virtual ~DecodeStage() = default;
  virtual void push(std::string_view fragment, bool ends_token) = 0;
  // No more tokens: hands on what is held back.
  virtual void finish() = 0;
};

// All steps at work on one stream of tokens. What comes out is certain: later tokens do not change it.
class DecodeStream {
 public:
  // `steps` outlive the stream.
  explicit DecodeStream(const std::vector<DecoderStep>& steps);
  DecodeStream(DecodeStream&&) noexcept;
  DecodeStream& operator=(DecodeStream&&) noexcept;
  ~DecodeStream();

  // Before the first push: what comes is not the beginning of a text.
  void begin_behind_text();
  void push(std::string_view token);
  void finish();
  // The text since the last call.
  [[nodiscard]] std::string take();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace minitorch::models
