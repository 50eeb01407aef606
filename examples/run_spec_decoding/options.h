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
  // Where no folder is given, those of the embedded pair.
  std::filesystem::path target;
  bool embedded_pair = false;
  std::optional<std::filesystem::path> draft;  // with drafter "model", and only then
  std::string drafter;
  std::int32_t gamma = 4;
  // At most one of the three is given; without any it is kSamplePrompt.
  std::optional<std::string> prompt;
  std::optional<std::string> prompt_file;  // "-": stdin
  std::optional<std::string> prompts_file;
  std::optional<std::string> system;
  bool raw = false;
  bool interactive = false;
  std::int32_t max_new_tokens = 256;
  std::vector<std::string> stop_strings;
  bool ignore_eos = false;
  // What the command line says about sampling; generation_config.json says the rest (sampling.h).
  std::optional<double> temperature;
  std::optional<std::int32_t> top_k;
  std::optional<double> top_p;
  std::optional<double> min_p;
  std::uint64_t seed = 0;
  std::string verifier = "auto";  // or the name of one
  models::WeightDType dtype = models::WeightDType::kAuto;
  std::int32_t threads = 0;  // 0: default_thread_count()
  bool baseline = true;
  std::int32_t repeat = 1;
  std::int32_t warmup = 0;
  bool trace = false;
  std::optional<std::filesystem::path> json;

  [[nodiscard]] bool has_prompt() const {
    return prompt.has_value() || prompt_file.has_value() || prompts_file.has_value();
  }
};

// Throws UsageError where the command line makes no sense, Error where it names no model and there is no embedded pair.
[[nodiscard]] Options parse_options(int argc, const char* const* argv);

}  // namespace minitorch::run_spec_decoding
