// attention: one task per (row, K/V head): block after block of 64 positions, all query heads of the group together.

// Working memory of one task; sizes for `group` query heads. The whole fits attention_scratch_bytes.
struct AttentionWork {
  std::int64_t group;      // query heads per K/V head
  std::int64_t out_width;  // head_dim rounded up to whole vectors
  float* weights;          // [group][64] scores, then exp(score - maximum), in logical order
  float* page_scores;      // [group][64] scores of one page by slot
  float* out;              // [group][out_width] weighted values so far
  float* max;              // [group] each from here on; padded to whole vectors
  float* sum;
  float* block_max;
  float* block_sum;
  float* keep;
  float* join;
};

AttentionWork make_work(const AttentionArgs& args, std::byte* scratch) {
  AttentionWork work;
  work.group = args.heads / args.layout.kv_heads;
  work.out_width = (args.layout.head_dim + 15) / 16 * 16;
  const std::int64_t padded = (work.group + 15) / 16 * 16;
  auto* next = reinterpret_cast<float*>(scratch);
  const auto take = [&next](std::int64_t floats) {
    float* taken = next;
    next += floats;
    return taken;
  };
  work.weights = take(work.group * kPageSlots);
  work.page_scores = take(work.group * kPageSlots);
  work.out = take(work.group * work.out_width);
  work.max = take(padded);
  work.sum = take(padded);
  work.block_max = take(padded);
  work.block_sum = take(padded);
  work.keep = take(padded);
  work.join = take(padded);
  return work;
}

// What one task reads.
template <typename Element>
struct AttentionTask {
  const AttentionRow& row;
  const KvPages& sequence;
  const float* q;         // [group][head_dim]
  std::int64_t k_offset;  // bytes from a page to this head's K and V
  std::int64_t v_offset;
  std::int64_t head_dim;
  float scale;

  std::int64_t slot_of(std::int64_t position) const {
    return position < row.num_linear ? position : row.tail[position - row.num_linear];
  }
  const Element* keys(std::int64_t page) const {
    return reinterpret_cast<const Element*>(sequence.pages[page] + k_offset);
  }
  const Element* values(std::int64_t page) const {
    return reinterpret_cast<const Element*>(sequence.pages[page] + v_offset);
  }
  const Element* value_row(std::int64_t slot) const { return values(slot / kPageSlots) + slot % kPageSlots * head_dim; }
  // Whether positions [begin, begin + count) are the slots of that number.
  bool is_linear(std::int64_t begin, std::int64_t count) const { return begin + count <= row.num_linear; }
};

// Calls body(first head, number of heads) over the group in blocks of nearly equal size.
template <typename Body>
MT_INLINE void for_head_blocks(std::int64_t group, const Body& body) {
  const std::int64_t blocks = (group + kAttentionHeads - 1) / kAttentionHeads;
  for (std::int64_t i = 0; i < blocks; ++i) {
    const std::int64_t head = group * i / blocks;
    body(head, group * (i + 1) / blocks - head);
  }
}

// Scores of all heads for one page.
template <typename Element>
void score_page(const AttentionTask<Element>& task, const AttentionWork& work, const PageKeys<Element>& page,
                float* out) {
  for_head_blocks(work.group, [&](std::int64_t head, std::int64_t heads) {
    score_heads<Element>(heads, task.q + head * task.head_dim, task.head_dim, page, task.scale,
                         out + head * kPageSlots);
  });
}

// Scores of a block whose positions are scattered over slots: page by page, then put into logical order.
template <typename Element>
void score_scattered(const AttentionTask<Element>& task, const AttentionWork& work, std::int64_t begin,
                     std::int64_t count) {
  std::uint64_t missing = ~std::uint64_t{0} >> (kPageSlots - count);  // positions of the block without a score
  while (missing != 0) {
    const std::int64_t page = task.slot_of(begin + __builtin_ctzll(missing)) / kPageSlots;
    std::uint64_t here = 0;  // positions on this page
    Range vectors{kPageSlots / 16, 0};
    for (std::uint64_t rest = missing; rest != 0; rest &= rest - 1) {
      const std::int64_t slot = task.slot_of(begin + __builtin_ctzll(rest));
      if (slot / kPageSlots != page) continue;
      here |= rest & (0 - rest);
      vectors = {smaller(vectors.begin, slot % kPageSlots / 16), larger(vectors.end, slot % kPageSlots / 16 + 1)};
    }
    score_page<Element>(task, work, {task.keys(page), task.keys(page), vectors}, work.page_scores);
    for (std::uint64_t rest = here; rest != 0; rest &= rest - 1) {
      const int j = __builtin_ctzll(rest);
      const std::int64_t place = task.slot_of(begin + j) % kPageSlots;
      for (std::int64_t h = 0; h < work.group; ++h)
        work.weights[h * kPageSlots + j] = work.page_scores[h * kPageSlots + place];
    }
    missing &= ~here;
  }
}

// Turns the scores of one head into exp(score - maximum). The sum has sixteen partial sums, one per lane.
void block_softmax(float* weights, std::int64_t count, float& max_out, float& sum_out) {
  const std::int64_t vectors = (count + 15) / 16;
  const F32x16 lowest = broadcast(-__builtin_inff());
  F32x16 largest = lowest;
  for (std::int64_t v = 0; v < vectors; ++v) {
    const F32x16 scores = keep_first(load(weights + v * 16), smaller(16, count - v * 16), lowest);
    store(weights + v * 16, scores);
    largest = max(scores, largest);
  }
  max_out = max_lane(largest);
  F32x16 sum = zero();
  for (std::int64_t v = 0; v < vectors; ++v) {
    const F32x16 weight = exp(sub(load(weights + v * 16), broadcast(max_out)));
    store(weights + v * 16, weight);
    sum = add(sum, weight);
  }
  sum_out = sum_lanes(sum);
}

// Joins maxima and sums of the block into the running ones and leaves the factors for the values.
void join_block(const AttentionWork& work, bool first) {
  for (std::int64_t h = 0; h < work.group; h += 16) {
    const F32x16 block_max = load(work.block_max + h);
    const F32x16 block_sum = load(work.block_sum + h);
    if (first) {
      store(work.max + h, block_max);
      store(work.sum + h, block_sum);
      continue;
    }
    const F32x16 old_max = load(work.max + h);
    const F32x16 new_max = max(block_max, old_max);
    const F32x16 keep = exp(sub(old_max, new_max));
    const F32x16 join = exp(sub(block_max, new_max));
    store(work.max + h, new_max);
    store(work.sum + h, fma(load(work.sum + h), keep, mul(block_sum, join)));
    store(work.keep + h, keep);
    store(work.join + h, join);
  }
}

// The rows of V of a block; the keys of the next block are fetched meanwhile.
template <typename Element>
BlockValues<Element> block_values(const AttentionTask<Element>& task, std::int64_t begin, std::int64_t count) {
  BlockValues<Element> values;
  for (std::int64_t j = 0; j < count; ++j) values.rows[j] = task.value_row(task.slot_of(begin + j));
  values.count = count;
  const bool more = task.is_linear(begin + count, 1);
  values.ahead = more ? task.keys((begin + count) / kPageSlots) : values.rows[0];
  values.ahead_stride = more ? task.head_dim : 0;
  return values;
}

// One block of `count` keys from logical position `begin` on.
template <typename Element>
void attend_block(const AttentionTask<Element>& task, const AttentionWork& work, std::int64_t begin,
                  std::int64_t count) {
  if (task.is_linear(begin, count)) {
    const std::int64_t page = begin / kPageSlots;
    score_page<Element>(task, work, {task.keys(page), task.values(page), {0, (count + 15) / 16}}, work.weights);
  } else {
    score_scattered(task, work, begin, count);
  }
  for (std::int64_t h = 0; h < work.group; ++h) {
    block_softmax(work.weights + h * kPageSlots, count, work.block_max[h], work.block_sum[h]);
  }
  join_block(work, begin == 0);
  const BlockValues<Element> values = block_values(task, begin, count);
  for_head_blocks(work.group, [&](std::int64_t head, std::int64_t heads) {
    value_heads<Element>(heads, work.weights + head * kPageSlots, values, task.head_dim,
                         {work.keep + head, work.join + head, begin == 0}, work.out + head * work.out_width,
                         work.out_width);
  });
}

// One (row, K/V head).
template <typename Element>
void attend(const AttentionArgs& args, const AttentionWork& work, std::int64_t m, std::int64_t kv_head) {
  const std::int64_t dim = args.layout.head_dim;
  const std::int64_t head_bytes = dim * kPageSlots * static_cast<std::int64_t>(sizeof(Element));
  const AttentionRow& row = args.row[m];
  const KvPages& sequence = args.sequences[row.sequence];
  const std::int64_t first = kv_head * work.group * dim;  // of the group's query heads within a row
  const AttentionTask<Element> task{row,
                                    sequence,
                                    args.q + m * args.q_stride + first,
                                    sequence.layer_offset + kv_head * head_bytes,
                                    sequence.layer_offset + (args.layout.kv_heads + kv_head) * head_bytes,
                                    dim,
                                    args.scale};
  for (std::int64_t begin = 0; begin < row.num_keys; begin += kPageSlots) {
    attend_block(task, work, begin, smaller(kPageSlots, row.num_keys - begin));
  }
  for (std::int64_t h = 0; h < work.group; ++h) {
    const F32x16 inverse = broadcast(row.num_keys > 0 ? 1.0f / work.sum[h] : 0.0f);
    float* out = args.out + m * args.out_stride + first + h * dim;
    for (std::int64_t d = 0; d < dim; d += 16) {
      const F32x16 value = row.num_keys > 0 ? mul(load(work.out + h * work.out_width + d), inverse) : zero();
      store_partial(out + d, value, smaller(16, dim - d));
    }
  }
}

// The cost of a row in units of one block.
MT_INLINE std::int64_t blocks_of(const AttentionRow& row) { return 1 + (row.num_keys + kPageSlots - 1) / kPageSlots; }

// The tasks whose place in the total cost falls into part `worker` of `count`, head by head: a thread reads few heads.
template <typename Element>
void attend_part(const AttentionArgs& args, std::byte* scratch, std::int64_t row_cost, int worker, int count) {
  const Range part = part_of(row_cost * args.layout.kv_heads, worker, count);
  const AttentionWork work = make_work(args, scratch);
  std::int64_t place = 0;
  for (std::int64_t kv_head = 0; kv_head < args.layout.kv_heads; ++kv_head) {
    for (std::int64_t m = 0; m < args.rows; ++m) {
      if (place >= part.begin && place < part.end) attend<Element>(args, work, m, kv_head);
      place += blocks_of(args.row[m]);
    }
  }
}

void attention(const Context& context, const AttentionArgs& args) {
  if (args.rows <= 0 || args.layout.kv_heads <= 0) return;
  struct Call {
    const AttentionArgs* args;
    std::byte* scratch;
    std::int64_t row_cost;  // of all rows for one K/V head
    std::int64_t scratch_bytes;
  } call{&args, attention_scratch(context, args), 0, attention_scratch_per_thread(args)};
  for (std::int64_t m = 0; m < args.rows; ++m) call.row_cost += blocks_of(args.row[m]);
  const auto body = [](void* argument, int worker, int count) {
    const auto* shared = static_cast<const Call*>(argument);
    std::byte* scratch = shared->scratch + worker * shared->scratch_bytes;
    if (shared->args->layout.dtype == DType::kBF16) {
      attend_part<std::uint16_t>(*shared->args, scratch, shared->row_cost, worker, count);
    } else {
      attend_part<float>(*shared->args, scratch, shared->row_cost, worker, count);
    }
  };
  // Below this many multiply-adds the threads cost more than they bring.
  constexpr std::int64_t kParallelMacs = 128 * 1024;
  if (call.row_cost * args.heads * args.layout.head_dim * kPageSlots * 2 < kParallelMacs) return body(&call, 0, 1);
  run_workers(context, &call, body);
}
