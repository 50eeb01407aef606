// HeadRows: final norm, head, masking of ids without a token, and picking what each row asked for.
#include "models/head.h"

#include <algorithm>
#include <cmath>  // std::isfinite
#include <limits>

#include "minitorch/base/check.h"
#include "minitorch/core/current_memory.h"
#include "minitorch/core/execution_scope.h"
#include "minitorch/ops/inference.h"

namespace minitorch::models {
namespace {

std::int64_t num_valid_ids(const ValidIds& valid_ids, std::int64_t valid_cols) {
  const auto below = [&](std::int32_t id) { return id >= 0 && id < valid_cols; };
  return valid_cols - std::count_if(valid_ids.holes.begin(), valid_ids.holes.end(), below);
}

Want want_of(const Outputs& outputs, std::size_t row) {
  return row < outputs.want.size() ? outputs.want[row] : Want::kNone;
}

void check_request(const Batch& batch, const ModelConfig& config, std::int64_t num_valid, const Outputs& outputs) {
  MT_CHECK(outputs.want.size() <= batch.rows.size(), "forward: outputs of {} rows are wanted, but the batch has {}",
           outputs.want.size(), batch.rows.size());
  MT_CHECK(outputs.hidden_layer >= -1 && outputs.hidden_layer < config.num_layers,
           "forward: expected hidden_layer from -1 to {}, got {}", config.num_layers - 1, outputs.hidden_layer);
  MT_CHECK(num_valid > 0, "forward: every id of the vocabulary is masked");
  const bool any_top_k = std::find(outputs.want.begin(), outputs.want.end(), Want::kTopK) != outputs.want.end();
  MT_CHECK(!any_top_k || (outputs.top_k >= 1 && outputs.top_k <= num_valid),
           "forward: expected top_k from 1 to {}, got {}", num_valid, outputs.top_k);
}

// logits [M, V]: -inf for ids that no token has.
void mask_ids(const Tensor& logits, const ValidIds& valid_ids, std::int64_t valid_cols) {
  constexpr float kMasked = -std::numeric_limits<float>::infinity();
  const std::int64_t cols = logits.size(1);
  for (std::int64_t row = 0; row < logits.size(0); ++row) {
    float* values = logits.data<float>() + row * cols;
    std::fill(values + valid_cols, values + cols, kMasked);
    for (const std::int32_t hole : valid_ids.holes) {
      if (hole >= 0 && hole < valid_cols) values[hole] = kMasked;
    }
  }
}

RowRange intersection(RowRange a, RowRange b) {
  const std::int64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

}  // namespace

void HeadRows::plan(const Batch& batch, const ModelConfig& config, const ValidIds& valid_ids, Outputs& outputs) {
  valid_cols_ = std::clamp<std::int64_t>(valid_ids.limit, 0, config.vocab_size);
  check_request(batch, config, num_valid_ids(valid_ids, valid_cols_), outputs);
  result_memory_ = &current_memory();
  const std::size_t rows = batch.rows.size();
  order_.clear();
  place_.assign(rows, -1);
  const auto add_rows = [&](Want want) {
    const std::int64_t begin = count();
    for (std::size_t row = 0; row < rows; ++row) {
      if (want_of(outputs, row) != want) continue;
      place_[row] = static_cast<std::int32_t>(count());
      order_.push_back(static_cast<std::int32_t>(row));
    }
    return RowRange{begin, count()};
  };
  logits_places_ = add_rows(Want::kLogits);
  top_k_places_ = add_rows(Want::kTopK);
  static_cast<void>(add_rows(Want::kArgmax));

  outputs.argmax.assign(rows, -1);
  outputs.logits_row.assign(rows, -1);
  for (std::int64_t place = 0; place < logits_places_.end; ++place) {
    outputs.logits_row[static_cast<std::size_t>(order_[static_cast<std::size_t>(place)])] =
        static_cast<std::int32_t>(place);
  }
  const std::size_t top_size = top_k_places_.size() > 0 ? rows * static_cast<std::size_t>(outputs.top_k) : 0;
  outputs.top_values.assign(top_size, -std::numeric_limits<float>::infinity());
  outputs.top_indices.assign(top_size, -1);
  outputs.logits = {};  // gives the memory back for the new ones
  const auto num_rows = static_cast<std::int64_t>(rows);
  outputs.hidden = {};
  outputs.hidden = outputs.hidden_layer >= 0 ? Tensor::empty({num_rows, config.hidden_size}) : Tensor();
}

RowRange HeadRows::wanted_within(RowRange rows) const {
  const auto wanted = [&](std::int64_t row) { return place_[static_cast<std::size_t>(row)] >= 0; };
  while (rows.size() > 0 && !wanted(rows.begin)) ++rows.begin;
  while (rows.size() > 0 && !wanted(rows.end - 1)) --rows.end;
  return rows;
}

void HeadRows::collect(const Tensor& x, std::int64_t begin, const Tensor& wanted) const {
  const auto place_at = [&](std::int64_t row) { return std::int64_t{place_[static_cast<std::size_t>(begin + row)]}; };
  const std::int64_t rows = x.size(0);
  for (std::int64_t row = 0; row < rows;) {
    const std::int64_t place = place_at(row);
    std::int64_t run = 1;
    while (row + run < rows && place_at(row + run) == place + run) ++run;
    if (place < 0) {
      ++row;
      continue;
    }
    wanted.slice(0, {.start = place, .stop = place + run}).copy_(x.slice(0, {.start = row, .stop = row + run}));
    row += run;
  }
}

void HeadRows::compute(const Tensor& wanted, const Batch& batch, const DecoderWeights& weights,
                       const ModelConfig& config, const ValidIds& valid_ids, Outputs& outputs) {
  const Tensor normed = ops::rms_norm(wanted, weights.final_norm, config.rms_norm_eps);
  for (RowRange places{0, 0}; places.begin < count(); places.begin = places.end) {
    // All rows whose logits are results at once, others beside them as far as they fit: one pass over the head's
    // weights.
    const std::int64_t at_least = std::max(kRowsAtOnce, logits_places_.end - places.begin);
    places.end = std::min(count(), places.begin + at_least);
    const bool is_result = places.begin < logits_places_.end;
    ExecutionScope::State state = ExecutionScope::current();
    if (is_result) state.memory = result_memory_;
    const ExecutionScope scope(state);
    const Tensor logits = ops::linear(normed.slice(0, {.start = places.begin, .stop = places.end}), weights.head);
    mask_ids(logits, valid_ids, valid_cols_);
    pick_argmax(logits, places, batch, outputs);
    if (const RowRange top = intersection(places, top_k_places_); top.size() > 0) {
      pick_top_k(logits.slice(0, {.start = top.begin - places.begin, .stop = top.end - places.begin}), top, outputs);
    }
    if (is_result) outputs.logits = logits.slice(0, {.start = 0, .stop = logits_places_.end});
  }
}

// Every wanted row: the argmax finds a NaN too, and infinity is the largest of all. Neither comes of sound weights.
void HeadRows::pick_argmax(const Tensor& logits, RowRange places, const Batch& batch, Outputs& outputs) {
  argmax_.resize(static_cast<std::size_t>(places.size()));
  ops::argmax(logits, valid_cols_, argmax_);
  for (std::size_t i = 0; i < argmax_.size(); ++i) {
    const auto row = static_cast<std::size_t>(order_[static_cast<std::size_t>(places.begin) + i]);
    const BatchRow& input = batch.rows[row];
    MT_CHECK(argmax_[i] != kernels::kArgmaxNan,
             "forward: the logits of row {} (token {} at position {}) hold a NaN: damaged weights?", row, input.token,
             input.position);
    const float largest = logits.data<float>()[static_cast<std::int64_t>(i) * logits.size(1) + argmax_[i]];
    MT_CHECK(std::isfinite(largest),
             "forward: the largest logit of row {} (token {} at position {}) is {}: damaged weights?", row, input.token,
             input.position, largest);
    outputs.argmax[row] = argmax_[i];
  }
}

void HeadRows::pick_top_k(const Tensor& logits, RowRange places, Outputs& outputs) {
  const auto k = static_cast<std::size_t>(outputs.top_k);
  top_values_.resize(static_cast<std::size_t>(places.size()) * k);
  top_indices_.resize(top_values_.size());
  const Runtime& runtime = ExecutionScope::current().runtime;
  runtime.table->top_k(kernels::Context{.pool = *runtime.threads}, {.x = logits.data<float>(),
                                                                    .x_stride = logits.size(1),
                                                                    .rows = places.size(),
                                                                    .cols = valid_cols_,
                                                                    .k = outputs.top_k,
                                                                    .values = top_values_.data(),
                                                                    .indices = top_indices_.data()});
  for (std::size_t i = 0; i < static_cast<std::size_t>(places.size()); ++i) {
    const auto row = static_cast<std::size_t>(order_[static_cast<std::size_t>(places.begin) + i]);
    std::copy_n(top_values_.begin() + static_cast<std::ptrdiff_t>(i * k), k,
                outputs.top_values.begin() + static_cast<std::ptrdiff_t>(row * k));
    std::copy_n(top_indices_.begin() + static_cast<std::ptrdiff_t>(i * k), k,
                outputs.top_indices.begin() + static_cast<std::ptrdiff_t>(row * k));
  }
}

}  // namespace minitorch::models
