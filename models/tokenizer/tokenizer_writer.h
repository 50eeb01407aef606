// Writing tokenizer.json and tokenizer_config.json, for this library and for the Hugging Face libraries alike.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "models/tokenizer/bpe_trainer.h"

namespace minitorch::models {

struct TokenizerSettings {
  std::string bos_token = {};  // one of the added tokens; put in front of texts. "": nothing is
  std::string eos_token = {};  // likewise, and the padding
  std::string chat_template = {};
  std::int64_t model_max_length = 0;  // positions of the model; 0: not stated
};

// The text of tokenizer.json. Throws Error when bos_token is none of the added tokens.
[[nodiscard]] std::string tokenizer_json(const TrainedBpe& trained, const BpeTrainerOptions& options,
                                         const TokenizerSettings& settings);
// The text of tokenizer_config.json.
[[nodiscard]] std::string tokenizer_config_json(const TokenizerSettings& settings);

// Both files in `folder`, which is made where it is absent. Throws IoError.
void write_tokenizer(const std::filesystem::path& folder, const TrainedBpe& trained, const BpeTrainerOptions& options,
                     const TokenizerSettings& settings);

}  // namespace minitorch::models
