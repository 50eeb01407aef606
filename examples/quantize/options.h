// The command line of quantize.
#pragma once

#include <filesystem>
#include <optional>

#include "kernels/packed_matrix.h"

namespace minitorch::quantize {

struct Options {
  std::filesystem::path source;
  std::filesystem::path output;
  kernels::PackedFormat format = kernels::PackedFormat::kInt8;
  int threads = 0;  // 0: default_thread_count()
  bool force = false;
  std::optional<std::filesystem::path> text;
  std::optional<std::filesystem::path> json;
};

// Throws UsageError where the command line makes no sense.
[[nodiscard]] Options parse_options(int argc, const char* const* argv);

}  // namespace minitorch::quantize
