// Packing problems into batches.
#include "examples/train_tiny_r1/batches.h"

#include "minitorch/base/check.h"

namespace minitorch::train_tiny_r1 {

Batches::Batches(const models::Tokenizer& tokenizer, std::uint64_t seed, std::int64_t rows)
    : tokenizer_(tokenizer), chat_template_(models::make_chat_template(tokenizer)), seed_(seed), rows_(rows) {
  MT_CHECK(rows >= 1, "batches: expected at least 1 row, got {}", rows);
}

Batch Batches::at(std::int64_t index) const {
  Batch batch;
  batch.begins.push_back(0);
  const auto wanted = static_cast<std::size_t>(rows_);
  for (std::int64_t i = 0; batch.tokens.size() < wanted; ++i) {
    MT_CHECK(i < kProblemsPerBatch, "batches: {} problems do not fill {} rows", kProblemsPerBatch, rows_);
    const Problem problem = make_problem(seed_, index * kProblemsPerBatch + i, {});
    const std::string text = chat_template_->render(conversation(problem), /*add_generation_prompt=*/false);
    const std::vector<std::int32_t> ids = tokenizer_.encode(text, /*add_special_tokens=*/false);
    const std::size_t count = std::min(ids.size(), wanted - batch.tokens.size());
    batch.tokens.insert(batch.tokens.end(), ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count));
    for (std::size_t t = 0; t < count; ++t) batch.targets.push_back(t + 1 < ids.size() ? ids[t + 1] : -1);
    batch.begins.push_back(static_cast<std::int32_t>(batch.tokens.size()));
  }
  return batch;
}

}  // namespace minitorch::train_tiny_r1
