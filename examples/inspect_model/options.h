// The command line of inspect_model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "models/load.h"

namespace minitorch::inspect_model {

struct Options {
  std::filesystem::path folder;
  models::WeightDType dtype = models::WeightDType::kAuto;
  int threads = 0;  // 0: default_thread_count()
  bool tensors = false;
  bool time = false;
  std::vector<std::int32_t> ids;
  std::optional<std::filesystem::path> logits;
  std::optional<std::filesystem::path> json;
};

// Throws UsageError where the command line makes no sense.
[[nodiscard]] Options parse_options(int argc, const char* const* argv);

}  // namespace minitorch::inspect_model
