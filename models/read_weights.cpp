// Matrices are cut into chunks of rows, which the threads take in turn.
#include "models/read_weights.h"

#include <algorithm>
#include <atomic>

#include "kernels/packed_matrix.h"
#include "minitorch/base/check.h"

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

std::vector<Chunk> list_chunks(const Checkpoint& checkpoint, std::span<const MatrixPlan> matrices) {
  std::vector<Chunk> chunks;
  for (const MatrixPlan& matrix : matrices) {
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
  try {
    kernels::pack_rows(chunk.matrix->target->view(), chunk.target_row, chunk.rows, buffer.data(),
                       file.entry(chunk.part->name).dtype);
  } catch (const Error& error) {
    fail<Error>("{}: tensor \"{}\": {}", file.path().string(), chunk.part->name, error.what());
  }
}

}  // namespace

void read_matrices(const Checkpoint& checkpoint, std::span<const MatrixPlan> matrices, ThreadPool& threads) {
  const std::vector<Chunk> chunks = list_chunks(checkpoint, matrices);
  std::atomic<std::size_t> next{0};
  threads.run([&](int, int) {
    std::vector<std::byte> buffer;
    for (std::size_t i = next++; i < chunks.size(); i = next++) read_chunk(checkpoint, chunks[i], buffer);
  });
}

Tensor read_vector(const Checkpoint& checkpoint, const VectorPlan& vector) {
  Tensor whole = Tensor::empty({vector.size()});
  std::int64_t begin = 0;
  for (const WeightPart& part : vector.parts) {
    const Tensor stored = checkpoint.file_of(part.name).read(part.name);
    whole.slice(0, {.start = begin, .stop = begin + part.rows}).copy_(stored);
    begin += part.rows;
  }
  return whole;
}

}  // namespace minitorch::models
