// Checking, reading and writing packed weight files.
#include "models/packed_file.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"
#include "minitorch/io/file.h"
#include "models/read_weights.h"
#include "models/weights.h"

namespace minitorch::models {
namespace {

constexpr const char* kFormatKey = "format";
constexpr const char* kFormatName = "minitorch-packed";
constexpr const char* kVersionKey = "version";
constexpr const char* kVersion = "1";  // counts changes of this file's structure and of the layout of panels
constexpr const char* kPackedFormatKey = "packed_format";
constexpr std::size_t kDataAlignment = 4096;
constexpr std::size_t kMaxShown = 60;  // bytes of a text from the file in a message

// A thread reads this much at a time: whole huge pages, and many shares per thread.
constexpr std::int64_t kShareBytes = std::int64_t{8} << 20;

std::string text_of(const io::SafetensorsFile& file, const std::string& key) {
  const auto found = file.metadata().find(key);
  return found == file.metadata().end() ? "nothing" : fmt::format("\"{}\"", printable(found->second, kMaxShown));
}

bool says(const io::SafetensorsFile& file, const std::string& key, std::string_view text) {
  const auto found = file.metadata().find(key);
  return found != file.metadata().end() && found->second == text;
}

void check_entry(const io::SafetensorsFile& file, const std::string& name, DType dtype, std::int64_t size) {
  MT_CHECK_AS(IoError, file.contains(name), "{}: expected a tensor \"{}\" of {} [{}], got none", file.path().string(),
              name, name_of(dtype), size);
  const io::SafetensorsEntry& entry = file.entry(name);
  MT_CHECK_AS(IoError, entry.dtype == dtype && entry.shape == Shape{size},
              "{}: tensor \"{}\": expected {} [{}], got {} {}", file.path().string(), name, name_of(dtype), size,
              name_of(entry.dtype), to_string(entry.shape));
}

std::string shape_text(const MatrixPlan& matrix) { return to_string(Shape{matrix.rows(), matrix.cols}); }

std::vector<io::SafetensorsItem> items_of(const WeightPlan& plan, kernels::PackedFormat format) {
  std::vector<io::SafetensorsItem> items;
  for (const MatrixPlan& matrix : plan.matrices) {
    items.push_back({matrix.name, DType::kU8, {kernels::packed_bytes(format, matrix.rows(), matrix.cols)}});
  }
  for (const VectorPlan& vector : plan.vectors) items.push_back({vector.name, DType::kF32, {vector.size()}});
  return items;
}

std::map<std::string, std::string> metadata_of(const WeightPlan& plan, kernels::PackedFormat format) {
  std::map<std::string, std::string> metadata{
      {kFormatKey, kFormatName}, {kVersionKey, kVersion}, {kPackedFormatKey, std::string(name_of(format))}};
  for (const MatrixPlan& matrix : plan.matrices) metadata[matrix.name] = shape_text(matrix);
  return metadata;
}

// Bytes of one matrix.
struct Share {
  const MatrixPlan* matrix = nullptr;
  std::int64_t begin = 0;
  std::int64_t bytes = 0;
};

std::vector<Share> list_shares(const WeightPlan& plan) {
  std::vector<Share> shares;
  for (const MatrixPlan& matrix : plan.matrices) {
    const std::int64_t bytes = matrix.target->bytes();
    for (std::int64_t begin = 0; begin < bytes; begin += kShareBytes) {
      shares.push_back({&matrix, begin, std::min(kShareBytes, bytes - begin)});
    }
  }
  return shares;
}

}  // namespace

kernels::PackedFormat read_packed_format(const io::SafetensorsFile& file) {
  const std::string path = file.path().string();
  MT_CHECK_AS(IoError, says(file, kFormatKey, kFormatName), "{}: metadata: {}: expected \"{}\", got {}", path,
              kFormatKey, kFormatName, text_of(file, kFormatKey));
  MT_CHECK_AS(IoError, says(file, kVersionKey, kVersion),
              "{}: metadata: {}: expected \"{}\", got {} (the program `quantize` makes such files)", path, kVersionKey,
              kVersion, text_of(file, kVersionKey));
  std::string known;
  for (const auto& [name, format] : packed_formats()) {
    if (says(file, kPackedFormatKey, name)) return format;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name);
  }
  fail<IoError>("{}: metadata: {}: expected one of {}, got {}", path, kPackedFormatKey, known,
                text_of(file, kPackedFormatKey));
}

void check_packed_weights(const WeightPlan& plan, const io::SafetensorsFile& file, kernels::PackedFormat format) {
  const std::string path = file.path().string();
  std::set<std::string_view> expected;
  for (const MatrixPlan& matrix : plan.matrices) {
    check_entry(file, matrix.name, DType::kU8, kernels::packed_bytes(format, matrix.rows(), matrix.cols));
    MT_CHECK_AS(IoError, says(file, matrix.name, shape_text(matrix)),
                "{}: metadata: tensor \"{}\": expected the rows and columns \"{}\", got {}", path, matrix.name,
                shape_text(matrix), text_of(file, matrix.name));
    expected.insert(matrix.name);
  }
  for (const VectorPlan& vector : plan.vectors) {
    check_entry(file, vector.name, DType::kF32, vector.size());
    expected.insert(vector.name);
  }
  for (const auto& [name, entry] : file.entries()) {
    MT_CHECK_AS(IoError, expected.contains(name), "{}: tensor \"{}\" is not part of this model with this config.json",
                path, printable(name));
  }
}

void read_packed_weights(const WeightPlan& plan, const io::SafetensorsFile& file, ThreadPool& threads) {
  const std::vector<Share> shares = list_shares(plan);
  std::atomic<std::size_t> next{0};
  threads.run([&](int, int) {
    for (std::size_t i = next++; i < shares.size(); i = next++) {
      const Share& share = shares[i];
      file.read_bytes(share.matrix->name, static_cast<std::uint64_t>(share.begin),
                      {share.matrix->target->view().panels + share.begin, static_cast<std::size_t>(share.bytes)});
    }
  });
  for (const VectorPlan& vector : plan.vectors) *vector.target = file.read(vector.name);
}

void write_packed_file(const std::filesystem::path& path, const Checkpoint& source, const ModelConfig& config,
                       kernels::PackedFormat format, ThreadPool& threads, const PackedMatrixVisitor& visit) {
  MT_CHECK_AS(IoError, !source.is_packed(), "{}: expected weights that are not packed, got packed ones",
              source.path().string());
  DecoderWeights weights;
  const WeightPlan plan = make_weight_plan(config, weights);
  check_weight_plan(plan, config, source);
  const std::string head =
      io::safetensors_head(path.string(), items_of(plan, format), metadata_of(plan, format), kDataAlignment);
  io::OutputFile file(path);
  file.write(std::as_bytes(std::span(head)));
  for (const MatrixPlan& matrix : plan.matrices) {
    *matrix.target = PackedMatrix(format, matrix.rows(), matrix.cols);
    read_matrices(source, {&matrix, 1}, threads);
    if (visit) visit(matrix, *matrix.target);
    file.write({matrix.target->view().panels, static_cast<std::size_t>(matrix.target->bytes())});
    *matrix.target = {};
  }
  for (const VectorPlan& vector : plan.vectors) {
    const Tensor values = read_vector(source, vector);
    file.write(
        {static_cast<const std::byte*>(values.raw_data()), static_cast<std::size_t>(vector.size()) * sizeof(float)});
  }
  file.commit();
}

}  // namespace minitorch::models
