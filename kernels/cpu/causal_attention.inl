// causal_attention and its backward: one task per (sequence, K/V head) computes whole matrix products over tiles of
// query rows, each with the keys up to its last row only.
//
// Every score, output and gradient is one accumulator that walks its sum in order (gemm_tile.inl); keys behind a row
// enter with probability 0.

// One (sequence, K/V head). Rows count from the beginning of the sequence.
struct CausalTask {
  const CausalAttentionArgs& args;
  const CausalSizes& sizes;
  std::int64_t begin, length, kv_head;

  std::int64_t dim() const { return args.head_dim; }
  std::int64_t group() const { return args.heads / args.kv_heads; }
  // Where row `row` of the task's K/V head, or of query head `h` of its group, lies in a matrix.
  template <typename T>
  T* kv_row(T* matrix, std::int64_t stride, std::int64_t row) const {
    return matrix + (begin + row) * stride + kv_head * dim();
  }
  template <typename T>
  T* q_row(T* matrix, std::int64_t stride, std::int64_t h, std::int64_t row) const {
    return matrix + (begin + row) * stride + (kv_head * group() + h) * dim();
  }
  GemmRight keys_by_dim(const float* packed) const { return {packed, dim() * 16}; }
  GemmRight dims_by_key(const float* packed, std::int64_t rows, std::int64_t first = 0) const {
    return {packed + first * 16, rows * 16};
  }
};

// Query rows [row, row + rows) of one head; they see keys [0, keys()) together.
struct QueryTile {
  std::int64_t head, row, rows;

  std::int64_t keys() const { return row + rows; }
};

MT_INLINE std::int64_t whole_vectors(std::int64_t floats) { return (floats + 15) / 16 * 16; }

// Turns the first `count` of a row of products into exp(score - maximum) and returns their sum; those behind become 0,
// up to `end`, a multiple of 16.
float causal_softmax(float* row, std::int64_t count, std::int64_t end, float scale) {
  const F32x16 lowest = broadcast(-__builtin_inff());
  F32x16 largest = lowest;
  for (std::int64_t j = 0; j < count; j += 16) {
    const F32x16 scores = keep_first(mul(load(row + j), broadcast(scale)), smaller(16, count - j), lowest);
    store(row + j, scores);
    largest = max(scores, largest);
  }
  const F32x16 maximum = broadcast(max_lane(largest));
  F32x16 sum = zero();
  for (std::int64_t j = 0; j < count; j += 16) {
    const F32x16 weights = keep_first(exp(sub(load(row + j), maximum)), smaller(16, count - j), zero());
    store(row + j, weights);
    sum = add(sum, weights);
  }
  for (std::int64_t j = whole_vectors(count); j < end; j += 16) store(row + j, zero());
  return sum_lanes(sum);
}

// Scores of a tile, turned into exp(score - maximum), 0 up to key `end` at least. `sums` [tile.rows].
void causal_weights(const CausalTask& task, const QueryTile& tile, const float* keys, std::int64_t end, float* weights,
                    float* sums) {
  const CausalAttentionArgs& args = task.args;
  const std::int64_t stride = task.sizes.score_stride;
  gemm_rows(tile.rows, {task.q_row(args.q, args.q_stride, tile.head, tile.row), args.q_stride, 1},
            task.keys_by_dim(keys), {weights, stride}, whole_vectors(tile.keys()), task.dim(), false);
  for (std::int64_t r = 0; r < tile.rows; ++r) {
    sums[r] = causal_softmax(weights + r * stride, tile.row + r + 1, whole_vectors(end), args.scale);
  }
}

void causal_forward(const CausalTask& task, float* scratch) {
  const CausalAttentionArgs& args = task.args;
  float* keys = scratch;
  float* values = keys + task.sizes.keys_by_dim;
  float* weights = values + task.sizes.dims_by_key;
  pack_panels(task.kv_row(args.k, args.k_stride, 0), 1, args.k_stride, task.length, task.dim(), keys);
  pack_panels(task.kv_row(args.v, args.v_stride, 0), args.v_stride, 1, task.dim(), task.length, values);
  const RowBlocks tiles(task.length);
  for (std::int64_t h = 0; h < task.group(); ++h) {
    for (std::int64_t i = 0; i < tiles.count; ++i) {
      const QueryTile tile{h, tiles.begin(i), tiles.size_of(i)};
      float sums[kMaxTileRows];
      causal_weights(task, tile, keys, tile.keys(), weights, sums);
      float* out = task.q_row(args.out, args.out_stride, h, tile.row);
      gemm_rows(tile.rows, {weights, task.sizes.score_stride, 1}, task.dims_by_key(values, task.length),
                {out, args.out_stride}, task.dim(), tile.keys(), false);
      for (std::int64_t r = 0; r < tile.rows; ++r, out += args.out_stride) {
        const F32x16 inverse = broadcast(1.0f / sums[r]);
        for (std::int64_t d = 0; d < task.dim(); d += 16) {
          const std::int64_t count = smaller(16, task.dim() - d);
          store_partial(out + d, mul(load_partial(out + d, count), inverse), count);
        }
      }
    }
  }
}

// The working memory of the backward.
struct CausalWork {
  float* keys;           // keys side by side
  float* values;         // values side by side
  float* keys_by_row;    // elements of the keys side by side
  float* probabilities;  // [kCausalRows][score_stride]
  float* dscores;        // [kCausalRows][score_stride]
  float* q;              // elements of the block's queries side by side
  float* dout;           // and of their gradients

  CausalWork(const CausalSizes& sizes, float* scratch)
      : keys(scratch),
        values(keys + sizes.keys_by_dim),
        keys_by_row(values + sizes.keys_by_dim),
        probabilities(keys_by_row + sizes.dims_by_key),
        dscores(probabilities + kCausalRows * sizes.score_stride),
        q(dscores + kCausalRows * sizes.score_stride),
        dout(q + sizes.query_rows) {}
};

// Finishes one row: p = weight / sum, ds = p (dp - sum of p dp) scale; both 0 behind `count`, up to `end`.
void causal_row_backward(float* p, float* ds, std::int64_t count, std::int64_t end, float sum, float scale) {
  const F32x16 inverse = broadcast(1.0f / sum);
  F32x16 partial = zero();
  for (std::int64_t j = 0; j < count; j += 16) {
    const F32x16 probability = mul(load(p + j), inverse);
    store(p + j, probability);
    partial = fma(probability, keep_first(load(ds + j), smaller(16, count - j), zero()), partial);
  }
  const F32x16 mean = broadcast(sum_lanes(partial));
  for (std::int64_t j = 0; j < count; j += 16) {
    const F32x16 scaled = mul(mul(load(p + j), sub(load(ds + j), mean)), broadcast(scale));
    store(ds + j, keep_first(scaled, smaller(16, count - j), zero()));
  }
  for (std::int64_t j = whole_vectors(count); j < end; j += 16) store(ds + j, zero());
}

// Probabilities and score gradients of a tile of query rows, 0 up to key `end`, and dq.
void causal_tile_backward(const CausalAttentionBackwardArgs& args, const CausalTask& task, const CausalWork& work,
                          const QueryTile& tile, std::int64_t end, float* probabilities, float* dscores) {
  const std::int64_t stride = task.sizes.score_stride;
  float sums[kMaxTileRows];
  causal_weights(task, tile, work.keys, end, probabilities, sums);
  const float* dout = task.q_row(args.dout, args.dout_stride, tile.head, tile.row);
  gemm_rows(tile.rows, {dout, args.dout_stride, 1}, task.keys_by_dim(work.values), {dscores, stride},
            whole_vectors(tile.keys()), task.dim(), false);
  for (std::int64_t r = 0; r < tile.rows; ++r) {
    causal_row_backward(probabilities + r * stride, dscores + r * stride, tile.row + r + 1, whole_vectors(end), sums[r],
                        args.forward.scale);
  }
  gemm_rows(tile.rows, {dscores, stride, 1}, task.dims_by_key(work.keys_by_row, task.length),
            {task.q_row(args.dq, args.dq_stride, tile.head, tile.row), args.dq_stride}, task.dim(), tile.keys(), false);
}

// Adds the query rows of a block [rows.begin, rows.end) to dk and dv of all keys they see. Key j is seen from row j on.
void causal_add_keys(const CausalAttentionBackwardArgs& args, const CausalTask& task, const CausalWork& work,
                     std::int64_t head, Range rows) {
  const std::int64_t stride = task.sizes.score_stride;
  const std::int64_t count = rows.end - rows.begin;
  const auto add_tile = [&](std::int64_t key, std::int64_t keys) {
    const std::int64_t skip = larger(key - rows.begin, 0);
    const bool accumulate = head > 0 || key < rows.begin;
    const std::int64_t place = skip * stride + key;
    gemm_rows(keys, {work.probabilities + place, 1, stride}, task.dims_by_key(work.dout, count, skip),
              {task.kv_row(args.dv, args.dv_stride, key), args.dv_stride}, task.dim(), count - skip, accumulate);
    gemm_rows(keys, {work.dscores + place, 1, stride}, task.dims_by_key(work.q, count, skip),
              {task.kv_row(args.dk, args.dk_stride, key), args.dk_stride}, task.dim(), count - skip, accumulate);
  };
  // Keys of earlier blocks, then those of this one, which the first head reaches first.
  for (std::int64_t key = 0; key < rows.begin; key += kMaxTileRows) {
    add_tile(key, smaller(kMaxTileRows, rows.begin - key));
  }
  const RowBlocks tiles(count);
  for (std::int64_t i = 0; i < tiles.count; ++i) add_tile(rows.begin + tiles.begin(i), tiles.size_of(i));
}

void causal_backward(const CausalAttentionBackwardArgs& args, const CausalTask& task, float* scratch) {
  const CausalAttentionArgs& forward = args.forward;
  const CausalWork work(task.sizes, scratch);
  const float* k = task.kv_row(forward.k, forward.k_stride, 0);
  pack_panels(k, 1, forward.k_stride, task.length, task.dim(), work.keys);
  pack_panels(k, forward.k_stride, 1, task.dim(), task.length, work.keys_by_row);
  pack_panels(task.kv_row(forward.v, forward.v_stride, 0), 1, forward.v_stride, task.length, task.dim(), work.values);
  for (std::int64_t h = 0; h < task.group(); ++h) {
    for (std::int64_t begin = 0; begin < task.length; begin += kCausalRows) {
      const Range rows{begin, smaller(begin + kCausalRows, task.length)};
      const std::int64_t count = rows.end - rows.begin;
      pack_panels(task.q_row(forward.q, forward.q_stride, h, begin), forward.q_stride, 1, task.dim(), count, work.q);
      pack_panels(task.q_row(args.dout, args.dout_stride, h, begin), args.dout_stride, 1, task.dim(), count, work.dout);
      const RowBlocks tiles(count);
      for (std::int64_t i = 0; i < tiles.count; ++i) {
        const std::int64_t place = tiles.begin(i) * task.sizes.score_stride;
        causal_tile_backward(args, task, work, {h, begin + tiles.begin(i), tiles.size_of(i)}, rows.end,
                             work.probabilities + place, work.dscores + place);
      }
      causal_add_keys(args, task, work, h, rows);
    }
  }
}

// The cost of a sequence for one K/V head, in units that grow with its length and its square.
MT_INLINE std::int64_t causal_cost(std::int64_t length) { return length * (length + 32); }

// Calls run(task, its thread's scratch) for every (sequence, K/V head) whose place in the total cost falls into a
// thread's part.
template <typename Run>
void for_causal_tasks(const Context& context, const CausalAttentionArgs& args, const Run& run) {
  struct Call {
    const CausalAttentionArgs& args;
    const Run& run;
    CausalSizes sizes;
    float* scratch;
    std::int64_t cost;  // of all sequences for one K/V head
  } call{args, run, CausalSizes(longest_sequence(args), args.head_dim), causal_attention_scratch(context, args), 0};
  for (std::int64_t s = 0; s < args.sequences; ++s) call.cost += causal_cost(args.begins[s + 1] - args.begins[s]);
  const auto body = [](void* argument, int worker, int count) {
    const auto& shared = *static_cast<const Call*>(argument);
    const CausalAttentionArgs& all = shared.args;
    const Range part = part_of(shared.cost * all.kv_heads, worker, count);
    std::int64_t place = 0;
    for (std::int64_t s = 0; s < all.sequences; ++s) {
      const std::int64_t length = all.begins[s + 1] - all.begins[s];
      for (std::int64_t kv_head = 0; kv_head < all.kv_heads && length > 0; ++kv_head) {
        if (place >= part.begin && place < part.end) {
          shared.run(CausalTask{all, shared.sizes, all.begins[s], length, kv_head},
                     shared.scratch + worker * shared.sizes.per_thread);
        }
        place += causal_cost(length);
      }
    }
  };
  if (call.cost * args.heads * args.head_dim < kGemmParallelMacs) return body(&call, 0, 1);
  run_workers(context, &call, body);
}

void causal_attention(const Context& context, const CausalAttentionArgs& args) {
  for_causal_tasks(context, args, [](const CausalTask& task, float* scratch) { causal_forward(task, scratch); });
}

void causal_attention_backward(const Context& context, const CausalAttentionBackwardArgs& args) {
  for_causal_tasks(context, args.forward,
                   [&args](const CausalTask& task, float* scratch) { causal_backward(args, task, scratch); });
}
