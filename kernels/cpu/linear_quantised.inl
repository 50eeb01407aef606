// linear with int8 or int4 weights: x is quantised first, then tiles of rows x panels take exact integer dot products.
//
// Every output is one f32 accumulator that takes the groups of 32 k in order (contract: ops/linear.h), so results
// depend neither on the tiles nor on the instruction set. Up to kMaxTileRows rows pass over the weights once. More rows
// are cut into blocks of nearly equal size, which pass over each panel one after the other: it comes from memory once,
// and from the second-level cache for the other blocks. Even more blocks pass over groups of panels that fit that
// cache.

constexpr std::int64_t kParallelQuantise = 16 * 1024;  // elements of x

// A group of one row of x.
struct QuantGroup {
  float scale;
  std::uint32_t start;  // minus the sum of its quants times the offset of the weights: takes that back
  std::uint32_t quads[8 * kQuadWords];
};
static_assert(sizeof(QuantGroup) <= kQuantGroupBytes);

// The quads of weights in one vector of a panel.
struct Int8Quants {
  static constexpr int kPerVector = 1;
  static constexpr int kOffset = kInt8Offset - kQuadsTakeAway;
  template <int kIndex>
  MT_INLINE static Quads quads(U32x16 vector) {
    return quads_of(vector);
  }
};
struct Int4Quants {
  static constexpr int kPerVector = 2;
  static constexpr int kOffset = kInt4Offset - kQuadsTakeAway;
  template <int kIndex>
  MT_INLINE static Quads quads(U32x16 vector) {
    return quads_of(bit_and(shift_right_signed<4 * kIndex>(vector), broadcast_u32(0x0F0F0F0Fu)));
  }
};

// One pass: rows [rows.begin, rows.end) in `blocks` blocks. The groups of x are in the order [block][group][row of the
// block], so that a tile finds those of all its rows beside each other.
struct QuantTask {
  const LinearArgs& args;
  QuantShape shape;
  Range rows;
  int blocks;
  QuantGroup* groups;

  const std::byte* panel(std::int64_t index) const { return args.weight.panels + index * shape.panel_stride; }
  Range block(int index) const {
    const Range part = part_of(rows.end - rows.begin, index, blocks);
    return {rows.begin + part.begin, rows.begin + part.end};
  }
  QuantGroup* groups_of(Range block) const { return groups + (block.begin - rows.begin) * shape.groups; }
};

MT_INLINE F32x16 magnitude_of(F32x16 x) { return as_float(bit_and(as_bits(x), broadcast_u32(0x7FFFFFFFu))); }

// `count` values, 1 to 32; those missing count as 0.
MT_INLINE void quantise_group(const float* x, std::int64_t count, int offset, QuantGroup& out) {
  const F32x16 low = count >= 16 ? load(x) : load_partial(x, count);
  const F32x16 high = count >= 32 ? load(x + 16) : count > 16 ? load_partial(x + 16, count - 16) : zero();
  const float largest = max_lane(max(magnitude_of(low), magnitude_of(high)));
  const bool finite = mask_nan(add(low, high)) == 0 && largest <= 0x1.fffffep127f;
  const bool quantised = finite && largest >= kInt8Smallest;
  const F32x16 inverse = broadcast(quantised ? 127.0f / largest : 0.0f);
  // Adding 1.5 * 2^23 rounds to the nearest integer, ties to even, in the low bits of the sum.
  const F32x16 rounder = broadcast(0x1.8p23f);
  const F32x16 low_sum = add(quantised ? mul(low, inverse) : zero(), rounder);
  const F32x16 high_sum = add(quantised ? mul(high, inverse) : zero(), rounder);
  const float total = sum_lanes(add(sub(low_sum, rounder), sub(high_sum, rounder)));  // exact
  out.scale = quantised ? largest / 127.0f : finite ? 0.0f : __builtin_nanf("");
  out.start = static_cast<std::uint32_t>(-offset * static_cast<std::int32_t>(total));
  store_quads(out.quads, sub(as_bits(low_sum), as_bits(rounder)));
  store_quads(out.quads + 4 * kQuadWords, sub(as_bits(high_sum), as_bits(rounder)));
}

// Rows [begin, end) of the pass.
void quantise_rows(const QuantTask& task, int offset, std::int64_t begin, std::int64_t end) {
  const std::int64_t cols = task.args.weight.cols;
  for (int index = 0; index < task.blocks; ++index) {
    const Range block = task.block(index);
    const std::int64_t block_rows = block.end - block.begin;
    const std::int64_t last = smaller(block.end, task.rows.begin + end);
    for (std::int64_t row = larger(block.begin, task.rows.begin + begin); row < last; ++row) {
      const float* x = task.args.x + row * task.args.x_stride;
      QuantGroup* out = task.groups_of(block) + row - block.begin;
      for (std::int64_t g = 0; g < task.shape.groups; ++g) {
        quantise_group(x + g * kGroupCols, smaller(cols - g * kGroupCols, kGroupCols), offset, out[g * block_rows]);
      }
    }
  }
}

// What a tile fetches while it runs: `quants` as in Ahead, and the scales of the next tile, 32 bytes at every group.
struct QuantAhead {
  Ahead quants;
  const std::byte* scales;
};

// The products of quad kIndex of a vector of each panel, quad `quad` of the group, for a whole tile.
template <typename Quants, int kIndex, int kRows, int kPanels>
MT_INLINE void add_quad(U32x16 (&dot)[kRows][kPanels], const QuantGroup* x, const U32x16 (&vectors)[kPanels],
                        int quad) {
  Quads w[kPanels];
#pragma GCC unroll 16
  for (int p = 0; p < kPanels; ++p) w[p] = Quants::template quads<kIndex>(vectors[p]);
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    const QuadInput value = broadcast_quad(x[r].quads + quad * kQuadWords);
#pragma GCC unroll 16
    for (int p = 0; p < kPanels; ++p) dot[r][p] = dot_quads(dot[r][p], w[p], value);
  }
}

// The products of vector `index` of a group.
template <typename Quants, int kRows, int kPanels>
MT_INLINE void add_vector(U32x16 (&dot)[kRows][kPanels], const QuantGroup* x, const TileOperands& in,
                          const std::byte* quants, int index, const std::byte*& ahead) {
  prefetch_panels<kPanels>(ahead, in);
  U32x16 vectors[kPanels];
#pragma GCC unroll 16
  for (int p = 0; p < kPanels; ++p) vectors[p] = load_u32(quants + p * in.panel_stride + index * 64);
  add_quad<Quants, 0>(dot, x, vectors, index * Quants::kPerVector);
  if constexpr (Quants::kPerVector == 2) add_quad<Quants, 1>(dot, x, vectors, index * 2 + 1);
}

// Adds one group of k, 8 quads when kWhole: its products as integers, then scaled to the sums. `x` are the groups of
// the rows.
template <typename Quants, bool kWhole, int kRows, int kPanels>
MT_INLINE void add_group(Accumulators<kRows, kPanels>& acc, const QuantGroup* x, const TileOperands& in,
                         const std::byte* quants, const std::byte* scales, int vectors, const std::byte*& ahead) {
  U32x16 dot[kRows][kPanels];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int p = 0; p < kPanels; ++p) dot[r][p] = broadcast_u32(x[r].start);
  }
  if constexpr (kWhole) {
#pragma GCC unroll 8
    for (int v = 0; v < 8 / Quants::kPerVector; ++v) add_vector<Quants>(dot, x, in, quants, v, ahead);
  } else {
    for (int v = 0; v < vectors; ++v) add_vector<Quants>(dot, x, in, quants, v, ahead);
  }
#pragma GCC unroll 16
  for (int p = 0; p < kPanels; ++p) {
    const F32x16 scale = load_halves(scales + p * in.panel_stride);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      // |dot| <= 32 * 127 * 127 < 2^24 is exact in f32; fma_once, because fma rounds twice on `scalar`.
      acc.sum[r][p] = fma_once(to_float(dot[r][p]), mul(broadcast(x[r].scale), scale), acc.sum[r][p]);
    }
  }
}

// All of k for one tile: the block of kRows rows that begins at `row`, panels [panel, panel + kPanels).
template <typename Quants, int kRows, int kPanels>
[[gnu::noinline]] void quant_tile(const QuantTask& task, std::int64_t row, std::int64_t panel, const QuantAhead& next) {
  Accumulators<kRows, kPanels> acc;
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int p = 0; p < kPanels; ++p) acc.sum[r][p] = zero();
  }
  const std::int64_t cols = task.args.weight.cols;
  const TileOperands in{nullptr, 0, nullptr, task.shape.panel_stride, cols, next.quants};
  const QuantGroup* x = task.groups_of({row, row + kRows});
  const std::byte* quants = task.panel(panel);
  const std::byte* scales = quants + task.shape.scales_offset;
  const std::byte* ahead = next.quants.from;
  const std::byte* scales_ahead = next.scales;
  for (std::int64_t g = 0; g < cols / kGroupCols; ++g) {
#pragma GCC unroll 16
    for (int p = 0; p < kPanels; ++p) prefetch(scales_ahead + p * in.panel_stride);
    add_group<Quants, true>(acc, x, in, quants, scales, 0, ahead);
    x += kRows;
    quants += 512 / Quants::kPerVector;
    scales += 32;
    scales_ahead += 32;
  }
  const auto rest = static_cast<int>(cols % kGroupCols);
  constexpr int kVectorCols = 4 * Quants::kPerVector;
  if (rest > 0) add_group<Quants, false>(acc, x, in, quants, scales, (rest + kVectorCols - 1) / kVectorCols, ahead);
  finish_tile(acc, task.args, row, panel);
}

// The only block of kRows rows, which begins at `row`, for the panels [begin, end), in tiles of kPanels panels, the
// rest in smaller ones.
template <typename Quants, int kRows, int kPanels = kTilePanels<kRows>>
void quant_single_pass(const QuantTask& task, std::int64_t row, std::int64_t begin, std::int64_t end) {
  for (; begin + kPanels <= end; begin += kPanels) {
    constexpr std::int64_t kDistance = kPrefetchBytes / kPanels / 64 * 64;
    const std::byte* next = task.panel(begin + kPanels);
    const std::byte* quants = task.panel(begin);
    quant_tile<Quants, kRows, kPanels>(
        task, row, begin,
        {{quants + kDistance, 64, quants + task.shape.scales_offset, next}, next + task.shape.scales_offset});
  }
  if constexpr (kPanels > 1) {
    if (begin < end) quant_single_pass<Quants, kRows, (kPanels + 1) / 2>(task, row, begin, end);
  }
}

// All blocks, of kRows or kRows - 1 rows, panel by panel. Each block fetches its share of the next panels.
template <typename Quants, int kRows, int kPanels = kTilePanels<kRows>>
void quant_blocks(const QuantTask& task, std::int64_t begin, std::int64_t end) {
  const std::int64_t share = task.shape.scales_offset / task.blocks;
  for (; begin + kPanels <= end; begin += kPanels) {
    const std::byte* next = task.panel(begin + kPanels);
    for (int index = 0; index < task.blocks; ++index) {
      const Range block = task.block(index);
      const QuantAhead ahead{{next + index * share, 64 / task.blocks + 1}, next + task.shape.scales_offset};
      if (block.end - block.begin == kRows) {
        quant_tile<Quants, kRows, kPanels>(task, block.begin, begin, ahead);
      } else {
        quant_tile<Quants, kRows - 1, kPanels>(task, block.begin, begin, ahead);
      }
    }
  }
  if constexpr (kPanels > 1) {
    if (begin < end) quant_blocks<Quants, kRows, (kPanels + 1) / 2>(task, begin, end);
  }
}

// Panels [begin, end) for the pass, whose largest block has `block_rows` rows.
template <typename Quants, int kRows = kMaxTileRows>
void quant_panels(const QuantTask& task, std::int64_t block_rows, std::int64_t begin, std::int64_t end) {
  if constexpr (kRows > 1) {
    if (block_rows < kRows) return quant_panels<Quants, kRows - 1>(task, block_rows, begin, end);
  }
  if (task.blocks == 1) return quant_single_pass<Quants, kRows>(task, task.rows.begin, begin, end);
  // More than one block means that two of them hold more than kMaxTileRows rows.
  if constexpr (2 * kRows > kMaxTileRows) quant_blocks<Quants, kRows>(task, begin, end);
}

template <typename Quants>
void linear_quants(const Context& context, const LinearArgs& args) {
  const QuantShape shape = quant_shape(args.weight.format, args.weight.cols);
  auto* groups = reinterpret_cast<QuantGroup*>(linear_scratch(context, args));
  const auto passes = static_cast<int>((args.rows + kQuantRows - 1) / kQuantRows);
  for (int pass = 0; pass < passes; ++pass) {
    const Range rows = part_of(args.rows, pass, passes);
    const std::int64_t count = rows.end - rows.begin;
    const auto blocks = static_cast<int>((count + kMaxTileRows - 1) / kMaxTileRows);
    const QuantTask task{args, shape, rows, blocks, groups};
    const std::int64_t block_rows = (count + blocks - 1) / blocks;
    split_range(context, count * args.weight.cols >= kParallelQuantise, count,
                [&task](std::int64_t begin, std::int64_t end) { quantise_rows(task, Quants::kOffset, begin, end); });
    split_range(context, count * args.weight.cols * args.weight.rows >= kParallelLinear, (args.weight.rows + 15) / 16,
                [&task, block_rows](std::int64_t begin, std::int64_t end) {
                  quant_panels<Quants>(task, block_rows, begin, end);
                });
  }
}

void linear_quantised(const Context& context, const LinearArgs& args) {
  if (args.rows <= 0) return;
  if (args.weight.format == PackedFormat::kInt8) return linear_quants<Int8Quants>(context, args);
  linear_quants<Int4Quants>(context, args);
}
