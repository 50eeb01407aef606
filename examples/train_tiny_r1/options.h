// The command line of train_tiny_r1.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace minitorch::train_tiny_r1 {

struct Options {
  std::filesystem::path folder;  // gets target/ and draft/
  std::filesystem::path work;    // checkpoints and logs
  std::string stage = "all";     // all, tokenizer, target, draft, evaluate, problems
  std::uint64_t seed = 1;
  std::int64_t steps = 2400;
  std::int64_t batch_tokens = 4096;
  std::int64_t vocab_size = 2048;
  double lr = 1e-3;
  int threads = 1;
  std::int64_t stop_after = INT64_MAX;

  // evaluate, problems
  std::int64_t count = 500;
  std::uint64_t evaluation_seed = 1000;
  std::int64_t show = 0;  // texts to print
};

[[nodiscard]] Options parse_options(int argc, const char* const* argv);

}  // namespace minitorch::train_tiny_r1
