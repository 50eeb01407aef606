// The command line of run_spec_decoding.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "models/load.h"

namespace minitorch::run_spec_decoding {

struct Options {
  std::filesystem::path target;
  std::string drafter = "ngram";
  std::int32_t gamma = 4;
  // Exactly one of the three is given.
  std::optional<std::string> prompt;
  std::optional<std::string> prompt_file;  // "-": stdin
  std::optional<std::string> prompts_file;
  std::optional<std::string> system;
  bool raw = false;
  std::int32_t max_new_tokens = 256;
  std::vector<std::string> stop_strings;
  bool ignore_eos = false;
  models::WeightDType dtype = models::WeightDType::kAuto;
  std::int32_t threads = 0;  // 0: default_thread_count()
  bool baseline = true;
  std::int32_t repeat = 1;
  std::int32_t warmup = 0;
  bool trace = false;
  std::optional<std::filesystem::path> json;
};

// Throws UsageError where the command line makes no sense.
[[nodiscard]] Options parse_options(int argc, const char* const* argv);

}  // namespace minitorch::run_spec_decoding
