// Keeping cost curves: one small JSON file for each key, named by its hash.
#include "models/cost_cache.h"

#include <cstdlib>  // std::getenv
#include <fstream>
#include <span>
#include <utility>

#include <nlohmann/json.hpp>

#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"
#include "minitorch/io/file.h"
#include "minitorch/io/json.h"
#include "models/decoder.h"
#include "models/weights.h"

namespace minitorch::models {
namespace {

namespace fs = std::filesystem;

constexpr int kVersion = 1;  // of what passes cost: raise it when kernels become faster

std::optional<fs::path> folder_in(const char* variable, const char* below) {
  const char* value = std::getenv(variable);
  if (value == nullptr || *value != '/') return std::nullopt;  // relative ones are to be ignored (XDG)
  return fs::path(value) / below;
}

// The processor as Linux names it; empty elsewhere.
std::string processor_name() {
  std::ifstream stream("/proc/cpuinfo");
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("model name")) return line;
  }
  return {};
}

// FNV-1a.
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

fs::path file_of(const fs::path& cache, const std::string& key) {
  return cache / "cost_curves" / fmt::format("{:016x}.json", hash_of(key));
}

bool is_plain_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(fs::symlink_status(path, ignored));
}

// The newest of the folder's weights and config, and the sum of their sizes: another checkpoint in the same place is
// another key.
std::string stamp_of(const fs::path& folder) {
  std::error_code error;
  std::uint64_t bytes = 0;
  fs::file_time_type newest = fs::file_time_type::min();  // the clock's own zero may lie in the future
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".safetensors" && entry.path().filename() != "config.json") continue;
    bytes += entry.file_size(error);
    newest = std::max(newest, entry.last_write_time(error));
  }
  return fmt::format("{} bytes, {}", bytes, newest.time_since_epoch().count());
}

}  // namespace

std::optional<fs::path> cache_folder() {
  if (const char* own = std::getenv("MINITORCH_CACHE"); own != nullptr) {
    return *own == '\0' ? std::nullopt : std::optional<fs::path>(own);
  }
  const std::optional<fs::path> shared = folder_in("XDG_CACHE_HOME", "minitorch");
  return shared.has_value() ? shared : folder_in("HOME", ".cache/minitorch");
}

std::string cost_key(const CausalLM& model, const fs::path& folder, const Runtime& runtime) {
  const auto* decoder = dynamic_cast<const Decoder*>(&model);
  MT_CHECK(decoder != nullptr, "cost curve: expected a model made by load_causal_lm");
  std::error_code error;
  return fmt::format("{}; {}; {}; {} x{}; {}", printable(fs::weakly_canonical(folder, error).string(), 4096),
                     stamp_of(folder), name_of(decoder->weights().embedding.format()), runtime.table->name,
                     runtime.threads->size(), processor_name());
}

std::optional<CostCurve> find_cost_curve(const fs::path& cache, const std::string& key) {
  const fs::path file = file_of(cache, key);
  if (!is_plain_file(file)) return std::nullopt;
  try {
    const nlohmann::json json = io::read_json(file);
    if (json.at("version") != kVersion || json.at("key") != key) return std::nullopt;
    std::vector<CostCurve::Point> points;
    for (const nlohmann::json& point : json.at("points")) {
      points.push_back({point.at("rows").get<std::int64_t>(), point.at("ms").get<double>()});
    }
    return CostCurve(std::move(points));
  } catch (const std::exception&) {  // a damaged file is measured again
    return std::nullopt;
  }
}

void store_cost_curve(const fs::path& cache, const std::string& key, const CostCurve& curve) {
  nlohmann::ordered_json json{{"version", kVersion}, {"key", key}, {"points", nlohmann::ordered_json::array()}};
  for (const CostCurve::Point& point : curve.points()) {
    json["points"].push_back({{"rows", point.rows}, {"ms", point.ms}});
  }
  const std::string text = json.dump(1) + "\n";
  const fs::path path = file_of(cache, key);
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  // Nothing is written through a link, or into a pipe that nobody may read.
  if (error || (!io::is_absent(path) && !is_plain_file(path))) return;
  try {
    io::OutputFile file(path);
    file.write(std::as_bytes(std::span(text)));
    file.commit();
  } catch (const IoError&) {  // see the header
  }
}

CostCurve cost_curve_of(CausalLM& model, const fs::path& folder, const Runtime& runtime, double budget_s) {
  const std::string key = cost_key(model, folder, runtime);
  const std::optional<fs::path> cache = cache_folder();
  if (cache.has_value()) {
    if (std::optional<CostCurve> kept = find_cost_curve(*cache, key); kept.has_value()) return *std::move(kept);
  }
  CostCurve curve = measure_cost_curve(dynamic_cast<Decoder&>(model), budget_s);
  if (cache.has_value()) store_cost_curve(*cache, key, curve);
  return curve;
}

}  // namespace minitorch::models
