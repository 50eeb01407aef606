// The shapes of the pair.
#pragma once

#include "models/config.h"
#include "models/tokenizer/tokenizer.h"

namespace minitorch::train_tiny_r1 {

// Qwen2 architecture, 256 wide, 5 layers: about 4 million parameters.
[[nodiscard]] models::ModelConfig target_config(const models::Tokenizer& tokenizer);
// 96 wide, 2 layers (copying a number from the question takes two): about a tenth of the target.
[[nodiscard]] models::ModelConfig draft_config(const models::Tokenizer& tokenizer);

}  // namespace minitorch::train_tiny_r1
