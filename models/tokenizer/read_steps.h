// From tokenizer.json to objects: normalizers, pre-tokenizers, post-processors and decoders. All throw IoError that
// names the field.
#pragma once

#include <vector>

#include "models/json_fields.h"
#include "models/tokenizer/normalizer.h"
#include "models/tokenizer/post_processor.h"
#include "models/tokenizer/pre_tokenizer.h"
#include "models/tokenizer/token_decoder.h"

namespace minitorch::models {

// `owner` is the whole file; null where it has no such field.
[[nodiscard]] NormalizerPtr read_normalizer(const JsonFields& owner);
[[nodiscard]] PreTokenizerPtr read_pre_tokenizer(const JsonFields& owner);
[[nodiscard]] PostProcessor read_post_processor(const JsonFields& owner);
[[nodiscard]] std::vector<DecoderStep> read_decoder(const JsonFields& owner);

}  // namespace minitorch::models
