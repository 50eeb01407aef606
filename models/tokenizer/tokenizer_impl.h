// The parts of a tokenizer.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "models/tokenizer/added_tokens.h"
#include "models/tokenizer/bpe_model.h"
#include "models/tokenizer/normalizer.h"
#include "models/tokenizer/post_processor.h"
#include "models/tokenizer/pre_tokenizer.h"
#include "models/tokenizer/token_decoder.h"
#include "models/tokenizer/tokenizer.h"
#include "models/tokenizer/tokenizer_config.h"

namespace minitorch::models {

struct Tokenizer::Impl {
  NormalizerPtr normalizer;       // may be null
  PreTokenizerPtr pre_tokenizer;  // may be null
  AddedTokens added;
  BpeModel model;
  PostProcessor post_processor;  // with the begin token where add_bos_token asks for it
  std::vector<DecoderStep> decoder;
  TokenizerConfig config;
  std::optional<std::int32_t> begin_id;  // what is put in front of every text; never twice

  // What decoders get for an id; "" and `known` false when there is no token.
  struct DecoderInput {
    std::string_view text;
    bool known = false;
  };
  [[nodiscard]] DecoderInput decoder_input(std::int32_t id, bool skip_special_tokens) const;
  [[nodiscard]] std::optional<std::int32_t> id_of(std::string_view token) const;
  [[nodiscard]] bool has_id(std::int32_t id) const { return model.tokens().has(id) || added.find(id) != nullptr; }
};

// Builds the parts from the texts of tokenizer.json and tokenizer_config.json. `name` and `config_name` begin error
// messages.
[[nodiscard]] Tokenizer::Impl build_tokenizer(std::string_view tokenizer, std::string_view name,
                                              std::string_view config, std::string_view config_name);

}  // namespace minitorch::models
