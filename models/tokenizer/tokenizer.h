// Tokenizer: text <-> ids, built entirely from a Hugging Face tokenizer.json; nothing is hard-coded per model family.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace minitorch::models {

class StreamDecoder;

// Cheap to copy; all members may be called from several threads at once.
class Tokenizer {
 public:
  // Reads tokenizer.json, and tokenizer_config.json and chat_template.jinja where present (add_bos_token, bos/eos
  // token, chat template), from a model folder. Throws IoError that names the file and the field.
  [[nodiscard]] static Tokenizer from_directory(const std::filesystem::path& directory);
  // From the texts themselves; `config` may be empty. `name` begins error messages.
  [[nodiscard]] static Tokenizer from_json(std::string_view tokenizer, std::string_view config = {},
                                           std::string_view name = "tokenizer.json");

  // Special tokens inside the text are parsed. `add_special_tokens` adds what the tokenizer's own rule says: that of
  // its post-processor, and where that adds nothing, the begin token if add_bos_token is set. A text that begins with
  // the begin token gets no second one. Throws Error when `text` is not valid UTF-8.
  [[nodiscard]] std::vector<std::int32_t> encode(std::string_view text, bool add_special_tokens) const;

  // The text of ids; ids without a token give "". Always valid UTF-8: broken byte sequences become U+FFFD.
  [[nodiscard]] std::string decode(std::span<const std::int32_t> ids, bool skip_special_tokens = false) const;

  // Text of a token stream, piece by piece; never splits a character. `before` are the tokens in front of the stream:
  // behind any that has a text, what a decoder drops at the very beginning of a text (a blank) is not dropped.
  [[nodiscard]] StreamDecoder stream_decoder(bool skip_special_tokens = false,
                                             std::span<const std::int32_t> before = {}) const;

  [[nodiscard]] std::int32_t size() const;  // highest id + 1
  [[nodiscard]] bool has_id(std::int32_t id) const;
  [[nodiscard]] std::optional<std::int32_t> id_of(std::string_view token) const;
  [[nodiscard]] std::string_view token_of(std::int32_t id) const;  // as written in the file; "" when there is none
  [[nodiscard]] bool is_special(std::int32_t id) const;

  [[nodiscard]] std::optional<std::int32_t> bos_id() const;
  [[nodiscard]] std::optional<std::int32_t> eos_id() const;
  [[nodiscard]] bool adds_bos() const;  // encode("", true) begins with the begin token
  // The chat template text of chat_template.jinja or tokenizer_config.json; empty when there is none.
  [[nodiscard]] const std::string& chat_template() const;
  [[nodiscard]] std::string bos_token() const;  // its text, "" when there is none
  [[nodiscard]] std::string eos_token() const;

  struct Impl;  // private to the sources

 private:
  friend class StreamDecoder;
  explicit Tokenizer(std::shared_ptr<const Impl> impl);

  std::shared_ptr<const Impl> impl_;
};

// Decodes ids one after the other. The text of the tokens before, which end at a character border, and all pieces
// together equal Tokenizer::decode of all of them. What comes out is certain; where tokens are single bytes (<0xE4>),
// a run of them comes out when it ends.
class StreamDecoder {
 public:
  StreamDecoder(StreamDecoder&&) noexcept;
  StreamDecoder& operator=(StreamDecoder&&) noexcept;
  ~StreamDecoder();

  // Text that became certain with this id; may be empty while a character is incomplete.
  [[nodiscard]] std::string push(std::int32_t id);
  // What was held back, at the end of the stream; an incomplete character becomes U+FFFD. Nothing may be pushed
  // afterwards.
  [[nodiscard]] std::string finish();

 private:
  friend class Tokenizer;
  StreamDecoder(std::shared_ptr<const Tokenizer::Impl> tokenizer, bool skip_special_tokens,
                std::span<const std::int32_t> before);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace minitorch::models
