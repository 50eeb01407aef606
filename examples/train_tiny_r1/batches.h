// Training batches: whole problems one behind the other, always the same number of rows.
#pragma once

#include <cstdint>
#include <vector>

#include "examples/train_tiny_r1/problem_generator.h"
#include "models/chat_template/chat_template.h"
#include "models/tokenizer/tokenizer.h"

namespace minitorch::train_tiny_r1 {

struct Batch {
  std::vector<std::int32_t> tokens;   // [rows]
  std::vector<std::int32_t> targets;  // [rows] the token that follows in the same problem; -1 behind its end
  std::vector<std::int32_t> begins;   // where each problem begins; rows at the end
};

// Batch i is a pure function of (seed, i): it holds the problems i * kProblemsPerBatch and following, as many as fit;
// the last one is cut. No shape changes from step to step, so memory is reused.
class Batches {
 public:
  static constexpr std::int64_t kProblemsPerBatch = 512;  // more than ever fit, so no problem is met twice

  Batches(const models::Tokenizer& tokenizer, std::uint64_t seed, std::int64_t rows);
  [[nodiscard]] Batch at(std::int64_t index) const;
  [[nodiscard]] std::int64_t rows() const { return rows_; }

 private:
  const models::Tokenizer& tokenizer_;
  std::unique_ptr<models::ChatTemplate> chat_template_;
  std::uint64_t seed_;
  std::int64_t rows_;
};

}  // namespace minitorch::train_tiny_r1
