// The pair's tokenizer, trained on generated problems.
#pragma once

#include <cstdint>
#include <filesystem>

namespace minitorch::train_tiny_r1 {

inline constexpr std::int64_t kTokenizerProblems = 20000;  // enough for every word to occur dozens of times

// Trains on the training problems 0 to kTokenizerProblems - 1 of `seed`, rendered by the pair's chat template, and
// writes tokenizer.json and tokenizer_config.json to `folder`. `model_max_length`: positions of the model. The files
// depend on the arguments alone.
void build_tokenizer(const std::filesystem::path& folder, std::uint64_t seed, std::int32_t vocab_size,
                     std::int64_t model_max_length = 1024);

}  // namespace minitorch::train_tiny_r1
