// Both models read the same text; their logits are compared row by row.
#include "examples/quantize/divergence.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "minitorch/base/check.h"

namespace minitorch::quantize {
namespace {

using models::Batch;
using models::CausalLM;
using models::KVCache;
using models::Outputs;

constexpr std::int64_t kWindow = 512;
constexpr std::int64_t kRows = 32;

// log(sum exp) of a row.
double log_total(std::span<const float> logits) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0.0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - largest);
  return largest + std::log(sum);
}

// One model at its place in the text.
class Reader {
 public:
  Reader(CausalLM& model, std::int64_t window)
      : model_(model), cache_(model.make_cache(static_cast<std::int32_t>(window))) {}

  void read(std::span<const std::int32_t> ids) {
    Batch batch;
    batch.caches = {&cache_};
    batch.add_chain(0, ids);
    outputs_.want.assign(ids.size(), models::Want::kLogits);
    model_.forward(batch, outputs_);
    cache_.keep_chain();
  }
  [[nodiscard]] const Outputs& outputs() const { return outputs_; }

 private:
  CausalLM& model_;
  KVCache cache_;
  Outputs outputs_;
};

void add_rows(const Outputs& reference, const Outputs& model, std::size_t rows, ThreadPool& threads,
              Divergence& total) {
  std::vector<double> kl(rows);
  threads.run([&](int worker, int count) {
    for (std::size_t row = static_cast<std::size_t>(worker); row < rows; row += static_cast<std::size_t>(count)) {
      const auto index = static_cast<std::int32_t>(row);
      kl[row] = kl_divergence(reference.logits_of(index), model.logits_of(index));
    }
  });
  for (std::size_t row = 0; row < rows; ++row) {
    total.mean_kl += kl[row];  // a sum until the end
    total.largest_kl = std::max(total.largest_kl, kl[row]);
    if (reference.argmax[row] == model.argmax[row]) ++total.same_top;
  }
  total.tokens += static_cast<std::int64_t>(rows);
}

}  // namespace

double kl_divergence(std::span<const float> p_logits, std::span<const float> q_logits) {
  const double p_total = log_total(p_logits);
  const double q_total = log_total(q_logits);
  double kl = 0.0;
  for (std::size_t i = 0; i < p_logits.size(); ++i) {
    const double log_p = static_cast<double>(p_logits[i]) - p_total;
    const double p = std::exp(log_p);
    if (p > 0.0) kl += p * (log_p - (static_cast<double>(q_logits[i]) - q_total));
  }
  return kl;
}

Divergence compare_models(CausalLM& reference, CausalLM& model, std::span<const std::int32_t> ids,
                          ThreadPool& threads) {
  MT_CHECK(!ids.empty(), "text: expected at least one token, got none");
  Divergence total;
  const auto size = static_cast<std::int64_t>(ids.size());
  total.window_tokens =
      std::min<std::int64_t>({kWindow, size, std::int64_t{reference.max_context()}, std::int64_t{model.max_context()}});
  for (std::int64_t begin = 0; begin < size; begin += total.window_tokens) {
    const std::int64_t end = std::min(begin + total.window_tokens, size);
    Reader reference_reader(reference, total.window_tokens);
    Reader reader(model, total.window_tokens);
    for (std::int64_t row = begin; row < end; row += kRows) {
      const auto rows = static_cast<std::size_t>(std::min(kRows, end - row));
      const auto piece = ids.subspan(static_cast<std::size_t>(row), rows);
      reference_reader.read(piece);
      reader.read(piece);
      add_rows(reference_reader.outputs(), reader.outputs(), rows, threads, total);
    }
    ++total.windows;
  }
  total.mean_kl /= static_cast<double>(total.tokens);
  return total;
}

}  // namespace minitorch::quantize
