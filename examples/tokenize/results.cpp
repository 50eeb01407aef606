// Writing results.
#include "examples/tokenize/results.h"

#include <cstdio>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "examples/common/build_id.h"
#include "minitorch/base/check.h"

namespace minitorch::tokenize {

std::string json_line(const nlohmann::ordered_json& record) {
  return record.dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::json::error_handler_t::replace);
}

Results::Results(const std::filesystem::path& tokenizer, const std::optional<std::filesystem::path>& json_file) {
  if (!json_file) return;
  file_.emplace(*json_file);
  const nlohmann::ordered_json head = {{"tokenizer", tokenizer.string()}, {"build", build_id()}};
  std::string text = json_line(head);
  text.pop_back();  // the brace, for the results
  write(text + ",\"results\":[");
}

void Results::add(std::string_view line, const nlohmann::ordered_json& record) {
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fputc('\n', stdout);
  MT_CHECK_AS(IoError, std::fflush(stdout) == 0, "cannot write to standard output");
  if (!file_) return;
  write((first_ ? "\n" : ",\n") + json_line(record));
  first_ = false;
}

void Results::finish() {
  if (!file_) return;
  write("\n]}\n");
  file_->commit();
}

void Results::write(std::string_view text) { file_->write(std::as_bytes(std::span(text))); }

}  // namespace minitorch::tokenize
