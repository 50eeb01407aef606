// Where results go: standard output as they come, and the --json file.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "minitorch/io/file.h"

namespace minitorch::tokenize {

class Results {
 public:
  // `json_file` is begun at once, so that a bad name is found out before the work.
  Results(const std::filesystem::path& tokenizer, const std::optional<std::filesystem::path>& json_file);

  // Prints `line` with a newline, and adds `record` to the file.
  void add(std::string_view line, const nlohmann::ordered_json& record);
  void finish();

 private:
  void write(std::string_view text);

  std::optional<io::OutputFile> file_;
  bool first_ = true;
};

// A record on one line.
[[nodiscard]] std::string json_line(const nlohmann::ordered_json& record);

}  // namespace minitorch::tokenize
