// Looking for the embedded pair of models.
#include "models/embedded_pair.h"

#include <cstdlib>  // std::getenv
#include <string>
#include <system_error>

#include "minitorch/base/check.h"

namespace minitorch::models {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPairName = "tiny_r1";

// A folder that may not be read holds nothing.
bool holds_pair(const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(folder / "target" / "config.json", error) &&
         fs::is_regular_file(folder / "draft" / "config.json", error);
}

}  // namespace

fs::path find_pair(std::span<const fs::path> candidates) {
  std::string looked_in;
  for (const fs::path& candidate : candidates) {
    if (holds_pair(candidate)) return fs::absolute(candidate).lexically_normal();
    looked_in += (looked_in.empty() ? "" : ", ") + candidate.string();
  }
  fail(
      "embedded models: expected a folder that holds target/config.json and draft/config.json, found none in: {} "
      "(MINITORCH_MODELS names another)",
      looked_in);
}

std::vector<fs::path> embedded_pair_candidates(const fs::path& known) {
  std::vector<fs::path> candidates;
  if (const char* named = std::getenv("MINITORCH_MODELS"); named != nullptr && *named != '\0') {
    candidates.emplace_back(named);
    candidates.push_back(fs::path(named) / kPairName);
  }
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) candidates.push_back(program.parent_path().parent_path() / "share" / "minitorch" / kPairName);
  if (!known.empty()) candidates.push_back(known);
  return candidates;
}

fs::path find_embedded_pair(const fs::path& known) {
  const std::vector<fs::path> candidates = embedded_pair_candidates(known);
  const char* named = std::getenv("MINITORCH_MODELS");
  const bool is_named = named != nullptr && *named != '\0';  // then it is that one or none
  return find_pair(is_named ? std::span(candidates).first(2) : std::span(candidates));
}

}  // namespace minitorch::models
