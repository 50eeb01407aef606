// An attention problem of the kernel tests: a filled cache, queries, and rows that see parts of it.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <set>

#include "tests/kernels/paged_cache.h"

namespace minitorch::test {

struct AttentionShape {
  DType dtype;
  std::int64_t kv_heads;
  std::int64_t group;
  std::int64_t head_dim;
};

class AttentionProblem {
 public:
  static constexpr std::int32_t kSlots = 512;

  // One sequence of kSlots slots with random keys and values.
  AttentionProblem(const AttentionShape& shape, PhiloxStream& random, int sequences = 1)
      : cache({shape.dtype, shape.kv_heads, shape.head_dim}, sequences, kSlots / kernels::kPageSlots),
        heads_(shape.kv_heads * shape.group) {
    for (int s = 0; s < sequences; ++s) {
      for (std::int32_t slot = 0; slot < kSlots; ++slot) {
        const std::vector<float> k = random_floats(cache.row_size(), random);
        const std::vector<float> v = random_floats(cache.row_size(), random);
        cache.put(0, {s, slot}, k.data(), v.data());
      }
    }
    scale = 1.0f / std::sqrt(static_cast<float>(shape.head_dim));
  }

  // A row of a plain sequence.
  void add_row(std::int32_t num_keys, PhiloxStream& random) { add({0, num_keys, num_keys, nullptr}, random); }

  // A row whose last `tail` keys sit in distinct slots anywhere behind the linear ones.
  void add_scattered_row(std::int32_t num_keys, std::int32_t tail, PhiloxStream& random) {
    std::set<std::int32_t> used;
    std::vector<std::int32_t> slots;
    while (static_cast<std::int32_t>(slots.size()) < tail) {
      const std::int32_t first = num_keys - tail;
      const auto slot = first + static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(kSlots - first)));
      if (used.insert(slot).second) slots.push_back(slot);
    }
    add_path(0, num_keys - tail, slots, random_floats(heads_ * dim(), random));
  }

  // A row that sees slots [0, linear) and then `path`, with the given query [H, D].
  void add_path(std::int32_t sequence, std::int32_t linear, const std::vector<std::int32_t>& path,
                const std::vector<float>& query) {
    tails_.push_back(path);
    rows.push_back({sequence, linear + static_cast<std::int32_t>(path.size()), linear, tails_.back().data()});
    queries.insert(queries.end(), query.begin(), query.end());
  }

  [[nodiscard]] GuardedRows<float> run(const kernels::KernelTable& table, int threads,
                                       std::optional<std::size_t> scratch_bytes = {}) {
    return run_rows(table, threads, 0, static_cast<std::int64_t>(rows.size()), scratch_bytes);
  }

  // Rows [first, first + count) alone.
  [[nodiscard]] GuardedRows<float> run_rows(const kernels::KernelTable& table, int threads, std::int64_t first,
                                            std::int64_t count, std::optional<std::size_t> scratch_bytes = {}) {
    const std::int64_t width = heads_ * dim();
    GuardedRows<float> out(count, width, width + 3, 1);
    const kernels::AttentionArgs args{.layout = cache.layout(),
                                      .sequences = cache.layer(0),
                                      .row = rows.data() + first,
                                      .q = queries.data() + first * width,
                                      .q_stride = width,
                                      .out = out.data(),
                                      .out_stride = out.stride(),
                                      .rows = count,
                                      .heads = heads_,
                                      .scale = scale};
    const Buffer scratch(scratch_bytes.value_or(kernels::attention_scratch_bytes(args, threads)));
    table.attention({.pool = pool_of(threads), .scratch = scratch.span()}, args);
    return out;
  }

  [[nodiscard]] std::int64_t dim() const { return cache.layout().head_dim; }

  // V of one slot and head as stored, f32 caches only.
  [[nodiscard]] const float* value(int sequence, std::int32_t slot, std::int64_t kv_head) const {
    const auto* page = reinterpret_cast<const float*>(cache.pages(sequence)[slot / kernels::kPageSlots]);
    return page + cache.row_size() * kernels::kPageSlots +
           (kv_head * kernels::kPageSlots + slot % kernels::kPageSlots) * dim();
  }

  // True when any row sees the slot of sequence 0.
  [[nodiscard]] bool sees(std::int32_t slot) const {
    return std::any_of(rows.begin(), rows.end(), [slot](const kernels::AttentionRow& row) {
      return slot < row.num_linear || std::find(row.tail, row.tail + (row.num_keys - row.num_linear), slot) !=
                                          row.tail + (row.num_keys - row.num_linear);
    });
  }

  PagedCache cache;
  std::vector<kernels::AttentionRow> rows;
  std::vector<float> queries;  // [rows, H, D]
  float scale = 1.0f;

 private:
  void add(const kernels::AttentionRow& row, PhiloxStream& random) {
    rows.push_back(row);
    const std::vector<float> query = random_floats(heads_ * dim(), random);
    queries.insert(queries.end(), query.begin(), query.end());
  }

  std::int64_t heads_;
  std::deque<std::vector<std::int32_t>> tails_;  // rows point into it
};

}  // namespace minitorch::test
