// Encoding and decoding: how the parts work together.
#include "models/tokenizer/tokenizer.h"

#include <algorithm>
#include <utility>

#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"
#include "minitorch/io/file.h"
#include "minitorch/io/json.h"
#include "models/model_folder.h"
#include "models/tokenizer/tokenizer_impl.h"

namespace minitorch::models {
namespace {

// "" when it is not there; a file that is there and empty is an error.
std::string read_if_present(const std::filesystem::path& path) {
  if (io::is_absent(path)) return {};
  std::string text = io::read_file(path);
  MT_CHECK_AS(IoError, !text.empty(), "{}: expected some text, got an empty file", path.string());
  return text;
}

// One call of encode.
class Encoder {
 public:
  explicit Encoder(const Tokenizer::Impl& parts) : parts_(parts) {}

  std::vector<std::int32_t> run(std::string_view text) {
    for (const TextSegment& segment : parts_.added.split(text, /*normalized=*/false, scratch_)) {
      if (segment.id >= 0) {
        ids_.push_back(segment.id);
      } else {
        encode_segment(text.substr(segment.range.begin, segment.range.end - segment.range.begin),
                       segment.range.begin == 0);
      }
    }
    return std::move(ids_);
  }

 private:
  // Text without added tokens, as far as those are looked for before normalization.
  void encode_segment(std::string_view segment_text, bool at_start) {
    NormalizedText normalized{.text = std::string(segment_text), .at_start = at_start};
    if (parts_.normalizer != nullptr) parts_.normalizer->apply(normalized, scratch_);
    for (const TextSegment& segment : parts_.added.split(normalized.text, /*normalized=*/true, scratch_)) {
      const TextRange range = segment.range;
      if (segment.id >= 0) {
        ids_.push_back(segment.id);
      } else {
        encode_pieces(PreTokenizedText(normalized.text.substr(range.begin, range.end - range.begin),
                                       normalized.at_start && range.begin == 0));
      }
    }
  }

  void encode_pieces(PreTokenizedText text) {
    if (parts_.pre_tokenizer != nullptr) parts_.pre_tokenizer->apply(text, scratch_);
    for (const TextRange& range : text.pieces()) parts_.model.encode(text.piece(range), model_scratch_, ids_);
  }

  const Tokenizer::Impl& parts_;
  PatternScratch scratch_;
  BpeModel::Scratch model_scratch_;
  std::vector<std::int32_t> ids_;
};

}  // namespace

Tokenizer::Impl::DecoderInput Tokenizer::Impl::decoder_input(std::int32_t id, bool skip_special_tokens) const {
  if (const AddedToken* token = added.find(id)) {
    if (token->special && skip_special_tokens) return {};
    return {.text = token->decoded, .known = true};
  }
  return {.text = model.tokens().text(id), .known = model.tokens().has(id)};
}

std::optional<std::int32_t> Tokenizer::Impl::id_of(std::string_view token) const {
  const AddedToken* found = added.find(token);
  return found != nullptr ? std::optional(found->id) : model.tokens().find(token);
}

Tokenizer::Tokenizer(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Tokenizer Tokenizer::from_directory(const std::filesystem::path& directory) {
  check_model_folder(directory, {"tokenizer.json"});
  const std::filesystem::path file = directory / "tokenizer.json";
  const std::filesystem::path config_file = directory / "tokenizer_config.json";
  const std::filesystem::path template_file = directory / "chat_template.jinja";
  const std::string config = read_if_present(config_file);
  auto parts =
      std::make_shared<Impl>(build_tokenizer(io::read_file(file), file.string(), config, config_file.string()));
  if (std::string text = read_if_present(template_file); !text.empty()) parts->config.chat_template = std::move(text);
  return Tokenizer(std::move(parts));
}

Tokenizer Tokenizer::from_json(std::string_view tokenizer, std::string_view config, std::string_view name) {
  return Tokenizer(std::make_shared<const Impl>(build_tokenizer(tokenizer, name, config, "tokenizer_config.json")));
}

std::vector<std::int32_t> Tokenizer::encode(std::string_view text, bool add_special_tokens) const {
  MT_CHECK(text.size() < std::size_t{1} << 30, "encode: expected a text below 1 GiB, got {} bytes", text.size());
  const std::size_t valid = valid_utf8_prefix(text);
  MT_CHECK(valid == text.size(), "encode: expected valid UTF-8, got an invalid sequence at byte {}", valid);
  std::vector<std::int32_t> ids = Encoder(*impl_).run(text);
  const bool has_begin = !ids.empty() && ids.front() == impl_->begin_id;
  ids = impl_->post_processor.apply(std::move(ids), add_special_tokens);
  if (add_special_tokens && has_begin) ids.erase(ids.begin());
  return ids;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids, bool skip_special_tokens) const {
  DecodeStream stream(impl_->decoder);
  for (const std::int32_t id : ids) {
    const auto [text, known] = impl_->decoder_input(id, skip_special_tokens);
    if (known) stream.push(text);
  }
  stream.finish();
  return stream.take();
}

StreamDecoder Tokenizer::stream_decoder(bool skip_special_tokens, std::span<const std::int32_t> before) const {
  return {impl_, skip_special_tokens, before};
}

std::int32_t Tokenizer::size() const {
  std::int32_t size = impl_->model.tokens().size();
  for (const AddedToken& token : impl_->added.tokens()) size = std::max(size, token.id + 1);
  return size;
}

bool Tokenizer::has_id(std::int32_t id) const { return impl_->has_id(id); }

std::optional<std::int32_t> Tokenizer::id_of(std::string_view token) const { return impl_->id_of(token); }

std::string_view Tokenizer::token_of(std::int32_t id) const {
  const AddedToken* token = impl_->added.find(id);
  return token != nullptr ? token->content : impl_->model.tokens().text(id);
}

bool Tokenizer::is_special(std::int32_t id) const {
  const AddedToken* token = impl_->added.find(id);
  return token != nullptr && token->special;
}

std::optional<std::int32_t> Tokenizer::bos_id() const {
  return impl_->config.bos_token ? impl_->id_of(*impl_->config.bos_token) : std::nullopt;
}

std::optional<std::int32_t> Tokenizer::eos_id() const {
  return impl_->config.eos_token ? impl_->id_of(*impl_->config.eos_token) : std::nullopt;
}

bool Tokenizer::adds_bos() const {
  const std::optional<std::int32_t> bos = bos_id();
  return impl_->begin_id.has_value() && (!bos || bos == impl_->begin_id);
}

const std::string& Tokenizer::chat_template() const { return impl_->config.chat_template; }
std::string Tokenizer::bos_token() const { return impl_->config.bos_token.value_or(""); }
std::string Tokenizer::eos_token() const { return impl_->config.eos_token.value_or(""); }

struct StreamDecoder::State {
  std::shared_ptr<const Tokenizer::Impl> tokenizer;
  bool skip_special_tokens;
  DecodeStream stream;
};

StreamDecoder::StreamDecoder(std::shared_ptr<const Tokenizer::Impl> tokenizer, bool skip_special_tokens,
                             std::span<const std::int32_t> before) {
  DecodeStream stream(tokenizer->decoder);
  const bool continues = std::any_of(before.begin(), before.end(), [&](std::int32_t id) {
    return tokenizer->decoder_input(id, skip_special_tokens).known;
  });
  if (continues) stream.begin_behind_text();
  state_ = std::make_unique<State>(State{std::move(tokenizer), skip_special_tokens, std::move(stream)});
}
StreamDecoder::StreamDecoder(StreamDecoder&&) noexcept = default;
StreamDecoder& StreamDecoder::operator=(StreamDecoder&&) noexcept = default;
StreamDecoder::~StreamDecoder() = default;

std::string StreamDecoder::push(std::int32_t id) {
  const auto [text, known] = state_->tokenizer->decoder_input(id, state_->skip_special_tokens);
  if (known) state_->stream.push(text);
  return state_->stream.take();
}

std::string StreamDecoder::finish() {
  state_->stream.finish();
  return state_->stream.take();
}

}  // namespace minitorch::models
