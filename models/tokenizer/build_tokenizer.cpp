// From the text of tokenizer.json to the parts of a tokenizer, with the checks that span several of them.
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"
#include "models/json_fields.h"
#include "models/tokenizer/json_steps.h"
#include "models/tokenizer/read_steps.h"
#include "models/tokenizer/tokenizer_file.h"
#include "models/tokenizer/tokenizer_impl.h"

namespace minitorch::models {
namespace {

BpeOptions read_bpe_options(const JsonFields& model) {
  // Dropout makes merges fail at random: a means of training.
  if (model.number("dropout", 0, 1).value_or(0) != 0) model.refuse("dropout", "null or 0");
  return {.unk_token = model.text("unk_token"),
          .continuing_subword_prefix = model.text("continuing_subword_prefix").value_or(""),
          .end_of_word_suffix = model.text("end_of_word_suffix").value_or(""),
          .fuse_unk = model.boolean("fuse_unk").value_or(false),
          .byte_fallback = model.boolean("byte_fallback").value_or(false),
          .ignore_merges = model.boolean("ignore_merges").value_or(false)};
}

MergeTable resolve_merges(const TokenizerFile& file, std::string_view prefix, std::string_view where) {
  MergeTable merges;
  merges.reserve(file.merges.size());
  std::string joined;
  file.merges.for_each([&](std::size_t index, const RawMerges::Pair& pair) {
    const auto id = [&](std::string_view token) {
      const std::optional<std::int32_t> found = file.vocab.find(token);
      MT_CHECK_AS(IoError, found.has_value(), "{}: merges: entry {}: \"{}\" is not in the vocab", where, index,
                  printable(token, 60));
      return *found;
    };
    const std::int32_t left = id(pair.left);
    const std::int32_t right = id(pair.right);
    // The prefix that marks what continues a word stands inside a token no more.
    MT_CHECK_AS(IoError, pair.right.size() >= prefix.size(),
                "{}: merges: entry {}: \"{}\" is shorter than continuing_subword_prefix", where, index,
                printable(pair.right, 60));
    joined.assign(pair.left).append(pair.right.substr(prefix.size()));
    merges.set(left, right, {.rank = static_cast<std::uint32_t>(index), .result = id(joined)});
  });
  return merges;
}

BpeModel read_model(const JsonFields& owner, TokenizerFile& file) {
  const JsonFields fields = required_object(owner, "model");
  // Files of old versions name no type.
  const std::string type = fields.text("type").value_or("BPE");
  if (type != "BPE") refuse_type(fields, type, "BPE");
  if (!file.has_vocab) fields.refuse("vocab", "an object of token: id");
  if (!file.has_merges) fields.refuse("merges", "an array of \"left right\" or [\"left\", \"right\"]");
  BpeOptions options = read_bpe_options(fields);
  MergeTable merges = resolve_merges(file, options.continuing_subword_prefix, fields.where());
  return BpeModel(std::move(file.vocab), std::move(merges), std::move(options));
}

AddedToken read_added_token(const JsonFields& fields) {
  const auto flag = [&](std::string_view field) { return fields.boolean(field).value_or(false); };
  AddedToken token{.content = required_text(fields, "content"),
                   .id = static_cast<std::int32_t>(fields.required_integer("id", 0, TokenTable::kMaxId)),
                   .single_word = flag("single_word"),
                   .lstrip = flag("lstrip"),
                   .rstrip = flag("rstrip"),
                   .special = flag("special")};
  token.normalized = fields.boolean("normalized").value_or(!token.special);
  return token;
}

// The ids of added tokens and of the vocabulary must not contradict each other.
AddedTokens read_added_tokens(const JsonFields& owner, const TokenTable& vocab, const Normalizer* normalizer) {
  if (!owner.given("added_tokens")) return {};
  std::vector<AddedToken> tokens;
  TokenTable seen;
  for (const JsonFields& fields : objects(owner, "added_tokens")) {
    AddedToken token = read_added_token(fields);
    const std::string shown = printable(token.content, 60);
    const std::optional<std::int32_t> in_vocab = vocab.find(token.content);
    MT_CHECK_AS(IoError, !in_vocab || *in_vocab == token.id, "{}: \"{}\": expected the id {} as in the vocab, got {}",
                fields.where(), shown, *in_vocab, token.id);
    MT_CHECK_AS(IoError, in_vocab || !vocab.has(token.id),
                "{}: \"{}\": expected an id of its own, got {}, that of \"{}\"", fields.where(), shown, token.id,
                printable(vocab.text(token.id), 60));
    const bool is_new = seen.add(token.content, token.id) == TokenTable::Added::kYes;
    MT_CHECK_AS(IoError, is_new || seen.find(token.content) == token.id,
                "{}: \"{}\": expected an id of its own, got {}", fields.where(), shown, token.id);
    tokens.push_back(std::move(token));
  }
  return {std::move(tokens), normalizer};
}

std::optional<std::int32_t> checked_id(const Tokenizer::Impl& parts, const std::optional<std::string>& token,
                                       std::string_view field, std::string_view name) {
  const std::optional<std::int32_t> id = token ? parts.id_of(*token) : std::nullopt;
  MT_CHECK_AS(IoError, id.has_value(), "{}: add_bos_token: expected {} to be a token, got {}", name, field,
              token ? "\"" + printable(*token, 60) + "\"" : "nothing");
  return id;
}

// The post-processor's rule holds; add_bos_token counts where that puts nothing in front.
void complete_begin_rule(Tokenizer::Impl& parts, std::string_view name, std::string_view config_name) {
  for (const std::int32_t id : parts.post_processor.added_ids()) {
    MT_CHECK_AS(IoError, parts.has_id(id), "{}: post_processor: adds the id {}, which no token has", name, id);
  }
  const std::vector<std::int32_t> added = parts.post_processor.apply({}, /*add_special_tokens=*/true);
  if (added.empty() && parts.config.add_bos_token) {
    parts.begin_id = checked_id(parts, parts.config.bos_token, "bos_token", config_name);
    parts.post_processor.add({.items = {{.id = *parts.begin_id}, {.is_text = true}}});
  } else if (!added.empty()) {
    parts.begin_id = added.front();
  }
}

}  // namespace

Tokenizer::Impl build_tokenizer(std::string_view tokenizer, std::string_view name, std::string_view config,
                                std::string_view config_name) {
  TokenizerFile file = parse_tokenizer_file(tokenizer, name);
  const JsonFields fields(*file.document, std::string(name));
  Tokenizer::Impl parts;
  parts.config = parse_tokenizer_config(config, config_name);
  parts.model = read_model(fields, file);
  parts.normalizer = read_normalizer(fields);
  parts.pre_tokenizer = read_pre_tokenizer(fields);
  parts.added = read_added_tokens(fields, parts.model.tokens(), parts.normalizer.get());
  parts.post_processor = read_post_processor(fields);
  parts.decoder = read_decoder(fields);
  complete_begin_rule(parts, name, config_name);
  return parts;
}

}  // namespace minitorch::models
