// The command line of tokenize.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace minitorch::tokenize {

struct Options {
  std::filesystem::path folder;     // of the tokenizer
  std::vector<std::string> inputs;  // texts, or id lists, or files of JSON lines; none: standard input
  bool add_special = false;
  bool skip_special = false;
  bool decode = false;
  bool jsonl = false;
  bool chat = false;
  std::optional<std::filesystem::path> json;  // file for the results
};

[[nodiscard]] Options parse_options(int argc, const char* const* argv);

}  // namespace minitorch::tokenize
