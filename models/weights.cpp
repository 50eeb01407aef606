// All weights of a decoder in one arena: as panels made from a checkpoint, or read from a packed file.
#include "models/weights.h"

#include <map>
#include <memory>

#include "kernels/packed_matrix.h"
#include "minitorch/base/check.h"
#include "models/packed_file.h"
#include "models/read_weights.h"
#include "models/weight_plan.h"

namespace minitorch::models {
namespace {

// kAuto keeps bf16 where all matrices are stored so; packed matrices hold parts of several tensors, hence one format
// for all.
kernels::PackedFormat choose_format(const WeightPlan& plan, const Checkpoint& checkpoint, WeightDType dtype) {
  switch (dtype) {
    case WeightDType::kF32: return kernels::PackedFormat::kF32;
    case WeightDType::kBF16: return kernels::PackedFormat::kBF16;
    case WeightDType::kInt8: return kernels::PackedFormat::kInt8;
    case WeightDType::kInt4: return kernels::PackedFormat::kInt4;
    case WeightDType::kAuto: break;
  }
  for (const MatrixPlan& matrix : plan.matrices) {
    for (const WeightPart& part : matrix.parts) {
      if (checkpoint.entry(part.name).dtype != DType::kBF16) return kernels::PackedFormat::kF32;
    }
  }
  return kernels::PackedFormat::kBF16;
}

std::int64_t matrix_bytes(const WeightPlan& plan, kernels::PackedFormat format) {
  std::int64_t bytes = 0;
  for (const MatrixPlan& matrix : plan.matrices) bytes += kernels::packed_bytes(format, matrix.rows(), matrix.cols);
  return bytes;
}

std::int64_t vector_bytes(const WeightPlan& plan) {
  std::int64_t size = 0;
  for (const VectorPlan& vector : plan.vectors) size += vector.size();
  return size * static_cast<std::int64_t>(sizeof(float));
}

std::int64_t num_parameters(const WeightPlan& plan) {
  std::int64_t count = 0;
  for (const MatrixPlan& matrix : plan.matrices) count += matrix.rows() * matrix.cols;
  for (const VectorPlan& vector : plan.vectors) count += vector.size();
  return count;
}

// Gives every matrix its place in one zeroed arena.
void place_matrices(const WeightPlan& plan, kernels::PackedFormat format) {
  const auto arena = std::make_shared<Buffer>(static_cast<std::size_t>(matrix_bytes(plan, format)));
  std::byte* memory = arena->data();
  for (const MatrixPlan& matrix : plan.matrices) {
    *matrix.target = PackedMatrix(format, matrix.rows(), matrix.cols, arena, memory);
    memory += matrix.target->bytes();  // whole panels, hence a multiple of 64 bytes
  }
}

// A packed file is loaded as it is.
kernels::PackedFormat check_packed(const WeightPlan& plan, const io::SafetensorsFile& file, WeightDType dtype) {
  const kernels::PackedFormat format = read_packed_format(file);
  for (const auto& [name, other] : packed_formats()) {
    MT_CHECK(other == format || dtype != weight_dtype_of(name),
             "dtype: expected auto or {}, in which {} is packed, got {}", name_of(format), file.path().string(), name);
  }
  check_packed_weights(plan, file, format);
  return format;
}

// Checks all tensors; the format in which they will be held.
kernels::PackedFormat check_tensors(const WeightPlan& plan, const ModelConfig& config, const Checkpoint& checkpoint,
                                    WeightDType dtype) {
  if (checkpoint.is_packed()) return check_packed(plan, checkpoint.files().front(), dtype);
  check_weight_plan(plan, config, checkpoint);
  return choose_format(plan, checkpoint, dtype);
}

}  // namespace

std::string_view name_of(kernels::PackedFormat format) {
  switch (format) {
    case kernels::PackedFormat::kF32: return "f32";
    case kernels::PackedFormat::kBF16: return "bf16";
    case kernels::PackedFormat::kInt8: return "int8";
    case kernels::PackedFormat::kInt4: return "int4";
  }
  return "?";
}

std::map<std::string_view, kernels::PackedFormat> packed_formats() {
  std::map<std::string_view, kernels::PackedFormat> formats;
  for (std::uint8_t number = 0; name_of(static_cast<kernels::PackedFormat>(number)) != "?"; ++number) {
    const auto format = static_cast<kernels::PackedFormat>(number);
    formats.emplace(name_of(format), format);
  }
  return formats;
}

DType default_cache_dtype(kernels::PackedFormat format) {
  return format == kernels::PackedFormat::kF32 ? DType::kF32 : DType::kBF16;
}

DecoderWeights load_weights(const Checkpoint& checkpoint, const ModelConfig& config, WeightDType dtype,
                            ThreadPool& threads) {
  DecoderWeights weights;
  const WeightPlan plan = make_weight_plan(config, weights);
  const kernels::PackedFormat format = check_tensors(plan, config, checkpoint, dtype);
  place_matrices(plan, format);
  if (checkpoint.is_packed()) {
    read_packed_weights(plan, checkpoint.files().front(), threads);
  } else {
    read_matrices(checkpoint, plan.matrices, threads);
    for (const VectorPlan& vector : plan.vectors) *vector.target = read_vector(checkpoint, vector);
  }
  weights.bytes = matrix_bytes(plan, format) + vector_bytes(plan);
  if (config.tie_word_embeddings) weights.head = weights.embedding;
  return weights;
}

WeightSummary summarize_weights(const Checkpoint& checkpoint, const ModelConfig& config, WeightDType dtype) {
  DecoderWeights none;
  const WeightPlan plan = make_weight_plan(config, none);
  const kernels::PackedFormat format = check_tensors(plan, config, checkpoint, dtype);
  return {
      .format = format, .parameters = num_parameters(plan), .bytes = matrix_bytes(plan, format) + vector_bytes(plan)};
}

}  // namespace minitorch::models
