// The two products of attention over one block of keys, for several query heads that share a K/V head.
//
// kHeads x kVectors accumulators stay in registers; each vector of K or V is read once for all heads. An accumulator
// belongs to one (head, key) or (head, element) and is summed in order, so the shape of these tiles does not enter the
// result. `ahead` is memory of the same size that is needed next and is fetched meanwhile.

// Fetches `count` elements.
template <int kCount, typename Element>
MT_INLINE void prefetch_elements(const Element* place) {
  constexpr int kPerLine = 64 / static_cast<int>(sizeof(Element));
#pragma GCC unroll 8
  for (int i = 0; i < kCount; i += kPerLine) prefetch(place + i);
}

// out[h][slot] = scale * sum_d q[h][d] * k[d][slot] for kVectors * 16 slots; rows of `out` are 64 apart.
template <int kHeads, int kVectors, typename Element>
MT_INLINE void score_tile(const float* q, std::int64_t head_dim, const Element* k, const Element* ahead, float scale,
                          float* out) {
  F32x16 sum[kHeads][kVectors];
#pragma GCC unroll 16
  for (int h = 0; h < kHeads; ++h) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) sum[h][v] = zero();
  }
  for (std::int64_t d = 0; d < head_dim; ++d, k += kPageSlots, ahead += kPageSlots) {
    prefetch_elements<kVectors * 16>(ahead);
    F32x16 keys[kVectors];
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) keys[v] = load(k + v * 16);
#pragma GCC unroll 16
    for (int h = 0; h < kHeads; ++h) {
      const F32x16 query = broadcast(q[h * head_dim + d]);
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) sum[h][v] = fma(query, keys[v], sum[h][v]);
    }
  }
#pragma GCC unroll 16
  for (int h = 0; h < kHeads; ++h) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) store(out + h * kPageSlots + v * 16, mul(sum[h][v], broadcast(scale)));
  }
}

// How the partial of a block joins the running one: out <- out * keep + block * join, at the first out <- block.
struct Join {
  const float* keep;  // [heads]
  const float* join;  // [heads]
  bool first;
};

// The keys of a block by their rows of V, and what to fetch ahead: `ahead_stride` elements further for every key.
template <typename Element>
struct BlockValues {
  const Element* rows[kPageSlots];
  std::int64_t count;
  const Element* ahead;
  std::int64_t ahead_stride;
};

// The weighted values of one block, joined into out[h][0 .. 16 * kVectors), whose rows are `out_stride` apart. The tile
// begins at element `offset` of the head; `lanes` < 16 restricts a single vector to the elements that exist.
template <int kHeads, int kVectors, bool kPartial, typename Element>
MT_INLINE void value_tile(const float* weights, const BlockValues<Element>& values, std::int64_t offset,
                          std::int64_t lanes, const Join& join, float* out, std::int64_t out_stride) {
  F32x16 sum[kHeads][kVectors];
#pragma GCC unroll 16
  for (int h = 0; h < kHeads; ++h) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) sum[h][v] = zero();
  }
  const Element* ahead = values.ahead + offset;
  for (std::int64_t j = 0; j < values.count; ++j, ahead += values.ahead_stride) {
    prefetch_elements<kVectors * 16>(ahead);
    const Element* place = values.rows[j] + offset;
    F32x16 value[kVectors];
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) value[v] = kPartial ? load_partial(place + v * 16, lanes) : load(place + v * 16);
#pragma GCC unroll 16
    for (int h = 0; h < kHeads; ++h) {
      const F32x16 weight = broadcast(weights[h * kPageSlots + j]);
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) sum[h][v] = fma(weight, value[v], sum[h][v]);
    }
  }
#pragma GCC unroll 16
  for (int h = 0; h < kHeads; ++h) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      float* place = out + h * out_stride + v * 16;
      F32x16 result = sum[h][v];
      if (!join.first) result = fma(load(place), broadcast(join.keep[h]), mul(result, broadcast(join.join[h])));
      store(place, result);
    }
  }
}

// Vectors of a tile, and the most heads it takes.
constexpr int kAttentionVectors = kAccumulators >= 16 ? 4 : (kAccumulators >= 6 ? 2 : 1);
constexpr int kAttentionHeads = kAccumulators / kAttentionVectors;

// What the scores of one page are made of.
template <typename Element>
struct PageKeys {
  const Element* k;
  const Element* ahead;
  Range vectors;  // of 16 slots
};

// Scores of one page for `heads` <= kMax heads.
template <typename Element, int kMax = kAttentionHeads>
void score_heads(std::int64_t heads, const float* q, std::int64_t head_dim, const PageKeys<Element>& page, float scale,
                 float* out) {
  if constexpr (kMax > 1) {
    if (heads < kMax) return score_heads<Element, kMax - 1>(heads, q, head_dim, page, scale, out);
  }
  std::int64_t v = page.vectors.begin;
  for (; v + kAttentionVectors <= page.vectors.end; v += kAttentionVectors) {
    score_tile<kMax, kAttentionVectors>(q, head_dim, page.k + v * 16, page.ahead + v * 16, scale, out + v * 16);
  }
  for (; v < page.vectors.end; ++v) {
    score_tile<kMax, 1>(q, head_dim, page.k + v * 16, page.ahead + v * 16, scale, out + v * 16);
  }
}

// Weighted values of one block for `heads` <= kMax heads.
template <typename Element, int kMax = kAttentionHeads>
void value_heads(std::int64_t heads, const float* weights, const BlockValues<Element>& values, std::int64_t head_dim,
                 const Join& join, float* out, std::int64_t out_stride) {
  if constexpr (kMax > 1) {
    if (heads < kMax) return value_heads<Element, kMax - 1>(heads, weights, values, head_dim, join, out, out_stride);
  }
  std::int64_t d = 0;
  for (; d + kAttentionVectors * 16 <= head_dim; d += kAttentionVectors * 16) {
    value_tile<kMax, kAttentionVectors, false>(weights, values, d, 16, join, out + d, out_stride);
  }
  for (; d + 16 <= head_dim; d += 16) value_tile<kMax, 1, false>(weights, values, d, 16, join, out + d, out_stride);
  if (d < head_dim) value_tile<kMax, 1, true>(weights, values, d, head_dim - d, join, out + d, out_stride);
}
