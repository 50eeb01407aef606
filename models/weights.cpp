// Reading a checkpoint's matrices chunk by chunk into the panels of one arena, on all threads.
#include "models/weights.h"

#include <algorithm>
#include <atomic>
#include <memory>

#include "kernels/packed_matrix.h"
#include "models/weight_plan.h"

namespace minitorch::models {
namespace {

// A worker reads this much at a time: enough to keep reads long, little beside the weights.
constexpr std::int64_t kChunkBytes = std::int64_t{2} << 20;

// Rows of one tensor and their place in a packed matrix.
struct Chunk {
  const MatrixPlan* matrix = nullptr;
  const WeightPart* part = nullptr;
  std::int64_t source_row = 0;
  std::int64_t target_row = 0;
  std::int64_t rows = 0;
  std::int64_t row_bytes = 0;  // as stored
};

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

// Cuts a part into chunks that end at panel borders, so that two workers seldom write to one panel.
void add_chunks(const Checkpoint& checkpoint, const MatrixPlan& matrix, const WeightPart& part,
                std::int64_t first_target_row, std::vector<Chunk>& chunks) {
  const std::int64_t row_bytes = matrix.cols * static_cast<std::int64_t>(size_of(checkpoint.entry(part.name).dtype));
  const std::int64_t panels = std::max<std::int64_t>(1, kChunkBytes / (row_bytes * kernels::kPanelWidth));
  const std::int64_t chunk_rows = panels * kernels::kPanelWidth;
  for (std::int64_t row = 0; row < part.rows;) {
    const std::int64_t target_row = first_target_row + row;
    const std::int64_t to_border = chunk_rows - target_row % kernels::kPanelWidth;
    const std::int64_t rows = std::min(part.rows - row, to_border);
    chunks.push_back({&matrix, &part, row, target_row, rows, row_bytes});
    row += rows;
  }
}

std::vector<Chunk> list_chunks(const Checkpoint& checkpoint, const WeightPlan& plan) {
  std::vector<Chunk> chunks;
  for (const MatrixPlan& matrix : plan.matrices) {
    std::int64_t target_row = 0;
    for (const WeightPart& part : matrix.parts) {
      add_chunks(checkpoint, matrix, part, target_row, chunks);
      target_row += part.rows;
    }
  }
  return chunks;
}

void read_chunk(const Checkpoint& checkpoint, const Chunk& chunk, std::vector<std::byte>& buffer) {
  buffer.resize(static_cast<std::size_t>(chunk.rows * chunk.row_bytes));
  const io::SafetensorsFile& file = checkpoint.file_of(chunk.part->name);
  file.read_bytes(chunk.part->name, static_cast<std::uint64_t>(chunk.source_row * chunk.row_bytes), buffer);
  kernels::pack_rows(chunk.matrix->target->view(), chunk.target_row, chunk.rows, buffer.data(),
                     file.entry(chunk.part->name).dtype);
}

void read_matrices(const Checkpoint& checkpoint, const WeightPlan& plan, ThreadPool& threads) {
  const std::vector<Chunk> chunks = list_chunks(checkpoint, plan);
  std::atomic<std::size_t> next{0};
  threads.run([&](int, int) {
    std::vector<std::byte> buffer;
    for (std::size_t i = next++; i < chunks.size(); i = next++) read_chunk(checkpoint, chunks[i], buffer);
  });
}

void read_vectors(const Checkpoint& checkpoint, const WeightPlan& plan) {
  for (const VectorPlan& vector : plan.vectors) {
    *vector.target = Tensor::empty({vector.size()});
    std::int64_t begin = 0;
    for (const WeightPart& part : vector.parts) {
      const Tensor stored = checkpoint.file_of(part.name).read(part.name);
      vector.target->slice(0, {.start = begin, .stop = begin + part.rows}).copy_(stored);
      begin += part.rows;
    }
  }
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

DType default_cache_dtype(kernels::PackedFormat format) {
  return format == kernels::PackedFormat::kF32 ? DType::kF32 : DType::kBF16;
}

DecoderWeights load_weights(const Checkpoint& checkpoint, const ModelConfig& config, WeightDType dtype,
                            ThreadPool& threads) {
  DecoderWeights weights;
  const WeightPlan plan = make_weight_plan(config, weights);
  check_weight_plan(plan, config, checkpoint);
  const kernels::PackedFormat format = choose_format(plan, checkpoint, dtype);
  place_matrices(plan, format);
  read_matrices(checkpoint, plan, threads);
  read_vectors(checkpoint, plan);
  weights.bytes = matrix_bytes(plan, format) + vector_bytes(plan);
  if (config.tie_word_embeddings) weights.head = weights.embedding;
  return weights;
}

WeightSummary summarize_weights(const Checkpoint& checkpoint, const ModelConfig& config, WeightDType dtype) {
  DecoderWeights none;
  const WeightPlan plan = make_weight_plan(config, none);
  check_weight_plan(plan, config, checkpoint);
  const kernels::PackedFormat format = choose_format(plan, checkpoint, dtype);
  return {
      .format = format, .parameters = num_parameters(plan), .bytes = matrix_bytes(plan, format) + vector_bytes(plan)};
}

}  // namespace minitorch::models
