// The stages of a decode stream, one per decoder step.
#pragma once

#include <memory>

#include "models/tokenizer/token_decoder.h"

namespace minitorch::models {

// The stage for `step`, which hands on to `next`. All arguments outlive it.
[[nodiscard]] std::unique_ptr<DecodeStage> make_decode_stage(const DecoderStep& step, DecodeStage& next,
                                                             PatternScratch& scratch);

}  // namespace minitorch::models
