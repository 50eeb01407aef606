// Rows of the checkpoint beside the same rows as the embedding lookup reads them from panels.
#include "examples/quantize/weight_error.h"

#include <algorithm>
#include <atomic>
#include <cmath>  // std::sqrt
#include <cstring>
#include <numeric>  // std::iota

#include "minitorch/base/float16.h"

namespace minitorch::quantize {
namespace {

constexpr std::int64_t kBlockWeights = std::int64_t{1} << 18;  // compared at a time by one thread

// Consecutive rows of a part, and the sums over them.
struct Block {
  std::int64_t begin = 0;
  std::int64_t rows = 0;
  double squared_error = 0.0;
  double squared_weights = 0.0;
  double largest = 0.0;
};

struct Scratch {
  std::vector<std::byte> stored;
  std::vector<float> expected;
  std::vector<float> packed;
  std::vector<std::int32_t> ids;
};

template <typename Element>
void widen(const std::vector<std::byte>& stored, std::vector<float>& out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    Element value;
    std::memcpy(&value, stored.data() + i * sizeof(value), sizeof(value));
    if constexpr (std::is_same_v<Element, float>) {
      out[i] = value;
    } else {
      out[i] = to_float(value);
    }
  }
}

class Comparison {
 public:
  Comparison(const models::Checkpoint& source, const models::WeightPart& part, std::int64_t first_row,
             const PackedMatrix& matrix, const Runtime& runtime)
      : file_(source.file_of(part.name)),
        dtype_(file_.entry(part.name).dtype),
        part_(part),
        first_row_(first_row),
        matrix_(matrix),
        runtime_(runtime) {}

  WeightError run() const {
    std::vector<Block> blocks;
    const std::int64_t step = std::max<std::int64_t>(1, kBlockWeights / matrix_.cols());
    for (std::int64_t row = 0; row < part_.rows; row += step) {
      blocks.push_back({.begin = row, .rows = std::min(step, part_.rows - row)});
    }
    std::atomic<std::size_t> next{0};
    runtime_.threads->run([&](int, int) {
      Scratch scratch;
      for (std::size_t i = next++; i < blocks.size(); i = next++) compare(blocks[i], scratch);
    });
    WeightError error{.name = part_.name, .rows = part_.rows, .cols = matrix_.cols()};
    for (const Block& block : blocks) {
      error.squared_error += block.squared_error;
      error.squared_weights += block.squared_weights;
      error.largest = std::fmax(error.largest, block.largest);
    }
    return error;
  }

 private:
  void read_stored(const Block& block, Scratch& scratch) const {
    const std::int64_t row_bytes = matrix_.cols() * static_cast<std::int64_t>(size_of(dtype_));
    scratch.stored.resize(static_cast<std::size_t>(block.rows * row_bytes));
    file_.read_bytes(part_.name, static_cast<std::uint64_t>(block.begin * row_bytes), scratch.stored);
    scratch.expected.resize(static_cast<std::size_t>(block.rows * matrix_.cols()));
    if (dtype_ == DType::kF32) widen<float>(scratch.stored, scratch.expected);
    if (dtype_ == DType::kF16) widen<Float16>(scratch.stored, scratch.expected);
    // check_weight_plan has refused all other types.
    if (dtype_ == DType::kBF16) widen<BFloat16>(scratch.stored, scratch.expected);
  }

  void read_packed(const Block& block, Scratch& scratch) const {
    scratch.packed.resize(scratch.expected.size());
    scratch.ids.resize(static_cast<std::size_t>(block.rows));
    std::iota(scratch.ids.begin(), scratch.ids.end(), static_cast<std::int32_t>(first_row_ + block.begin));
    runtime_.table->gather_rows({.pool = *runtime_.threads}, {.table = matrix_.view(),
                                                              .ids = scratch.ids.data(),
                                                              .rows = block.rows,
                                                              .out = scratch.packed.data(),
                                                              .out_stride = matrix_.cols()});
  }

  void compare(Block& block, Scratch& scratch) const {
    read_stored(block, scratch);
    read_packed(block, scratch);
    for (std::size_t i = 0; i < scratch.expected.size(); ++i) {
      const double weight = scratch.expected[i];
      const double difference = weight - static_cast<double>(scratch.packed[i]);
      block.squared_error += difference * difference;
      block.squared_weights += weight * weight;
      block.largest = std::max(block.largest, std::abs(difference));
    }
  }

  const io::SafetensorsFile& file_;
  DType dtype_;
  const models::WeightPart& part_;
  std::int64_t first_row_;
  const PackedMatrix& matrix_;
  const Runtime& runtime_;
};

}  // namespace

double WeightError::relative_rms() const {
  return squared_error == 0.0 ? 0.0 : std::sqrt(squared_error / squared_weights);
}

std::vector<WeightError> measure_errors(const models::Checkpoint& source, const models::MatrixPlan& plan,
                                        const PackedMatrix& matrix, const Runtime& runtime) {
  std::vector<WeightError> errors;
  std::int64_t first_row = 0;
  for (const models::WeightPart& part : plan.parts) {
    errors.push_back(Comparison(source, part, first_row, matrix, runtime).run());
    first_row += part.rows;
  }
  return errors;
}

}  // namespace minitorch::quantize
