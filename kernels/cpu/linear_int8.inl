// linear with int8 weights: x is quantised first, then tiles of rows x panels take exact integer dot products.
//
// Every output is one f32 accumulator that takes the groups of 32 k in order (contract: ops/linear.h), so results
// depend neither on the tiles nor on the instruction set. Up to kMaxTileRows rows pass over the weights once. More rows
// are cut into blocks of nearly equal size, which pass over each panel one after the other: it comes from memory once,
// and from the second-level cache for the other blocks. Even more blocks pass over groups of panels that fit that
// cache.

constexpr std::int64_t kParallelQuantise = 16 * 1024;  // elements of x

// A group of one row of x.
struct Int8Group {
  float scale;
  std::uint32_t start;  // -128 * the sum of its quants: takes back the offset of the weights
  std::uint32_t quads[8 * kQuadWords];
};
static_assert(sizeof(Int8Group) <= kInt8GroupBytes);

// One pass: rows [rows.begin, rows.end) in `blocks` blocks. The groups of x are in the order [block][group][row of the
// block], so that a tile finds those of all its rows beside each other.
struct Int8Task {
  const LinearArgs& args;
  Int8Shape shape;
  Range rows;
  int blocks;
  Int8Group* groups;

  const std::byte* panel(std::int64_t index) const { return args.weight.panels + index * shape.panel_stride; }
  Range block(int index) const {
    const Range part = part_of(rows.end - rows.begin, index, blocks);
    return {rows.begin + part.begin, rows.begin + part.end};
  }
  Int8Group* groups_of(Range block) const { return groups + (block.begin - rows.begin) * shape.groups; }
};

MT_INLINE F32x16 magnitude_of(F32x16 x) { return as_float(bit_and(as_bits(x), broadcast_u32(0x7FFFFFFFu))); }

// `count` values, 1 to 32; those missing count as 0.
MT_INLINE void quantise_group(const float* x, std::int64_t count, Int8Group& out) {
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
  out.start = static_cast<std::uint32_t>(-kInt8Offset * static_cast<std::int32_t>(total));
  store_quads(out.quads, sub(as_bits(low_sum), as_bits(rounder)));
  store_quads(out.quads + 4 * kQuadWords, sub(as_bits(high_sum), as_bits(rounder)));
}

// Rows [begin, end) of the pass.
void quantise_rows(const Int8Task& task, std::int64_t begin, std::int64_t end) {
  const std::int64_t cols = task.args.weight.cols;
  for (int index = 0; index < task.blocks; ++index) {
    const Range block = task.block(index);
    const std::int64_t block_rows = block.end - block.begin;
    const std::int64_t last = smaller(block.end, task.rows.begin + end);
    for (std::int64_t row = larger(block.begin, task.rows.begin + begin); row < last; ++row) {
      const float* x = task.args.x + row * task.args.x_stride;
      Int8Group* out = task.groups_of(block) + row - block.begin;
      for (std::int64_t g = 0; g < task.shape.groups; ++g) {
        quantise_group(x + g * kGroupCols, smaller(cols - g * kGroupCols, kGroupCols), out[g * block_rows]);
      }
    }
  }
}

// What a tile fetches while it runs: `quants` as in Ahead, and the scales of the next tile, 32 bytes at every group.
struct Int8Ahead {
  Ahead quants;
  const std::byte* scales;
};

// The products of one quad of k for a whole tile.
template <int kRows, int kPanels>
MT_INLINE void add_quad(U32x16 (&dot)[kRows][kPanels], const Int8Group* x, const TileOperands& in,
                        const std::byte* quants, int quad, const std::byte*& ahead) {
  prefetch_panels<kPanels>(ahead, in);
  Quads w[kPanels];
#pragma GCC unroll 16
  for (int p = 0; p < kPanels; ++p) w[p] = load_quads(quants + p * in.panel_stride + quad * 64);
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    const QuadInput value = broadcast_quad(x[r].quads + quad * kQuadWords);
#pragma GCC unroll 16
    for (int p = 0; p < kPanels; ++p) dot[r][p] = dot_quads(dot[r][p], w[p], value);
  }
}

// Adds one group of k, 8 quads when kWhole: its products as integers, then scaled to the sums. `x` are the groups of
// the rows.
template <bool kWhole, int kRows, int kPanels>
MT_INLINE void add_group(Accumulators<kRows, kPanels>& acc, const Int8Group* x, const TileOperands& in,
                         const std::byte* quants, const std::byte* scales, int quads, const std::byte*& ahead) {
  U32x16 dot[kRows][kPanels];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int p = 0; p < kPanels; ++p) dot[r][p] = broadcast_u32(x[r].start);
  }
  if constexpr (kWhole) {
#pragma GCC unroll 8
    for (int q = 0; q < 8; ++q) add_quad(dot, x, in, quants, q, ahead);
  } else {
    for (int q = 0; q < quads; ++q) add_quad(dot, x, in, quants, q, ahead);
  }
#pragma GCC unroll 16
  for (int p = 0; p < kPanels; ++p) {
    const F32x16 scale = load_halves(scales + p * in.panel_stride);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      acc.sum[r][p] = fma_once(to_float(dot[r][p]), mul(broadcast(x[r].scale), scale), acc.sum[r][p]);
    }
  }
}

// All of k for one tile: the block of kRows rows that begins at `row`, panels [panel, panel + kPanels).
template <int kRows, int kPanels>
[[gnu::noinline]] void int8_tile(const Int8Task& task, std::int64_t row, std::int64_t panel, const Int8Ahead& next) {
  Accumulators<kRows, kPanels> acc;
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int p = 0; p < kPanels; ++p) acc.sum[r][p] = zero();
  }
  const std::int64_t cols = task.args.weight.cols;
  const TileOperands in{nullptr, 0, nullptr, task.shape.panel_stride, cols, next.quants};
  const Int8Group* x = task.groups_of({row, row + kRows});
  const std::byte* quants = task.panel(panel);
  const std::byte* scales = quants + task.shape.scales_offset;
  const std::byte* ahead = next.quants.from;
  const std::byte* scales_ahead = next.scales;
  for (std::int64_t g = 0; g < cols / kGroupCols; ++g) {
#pragma GCC unroll 16
    for (int p = 0; p < kPanels; ++p) prefetch(scales_ahead + p * in.panel_stride);
    add_group<true>(acc, x, in, quants, scales, 8, ahead);
    x += kRows;
    quants += 512;
    scales += 32;
    scales_ahead += 32;
  }
  const auto rest = static_cast<int>(cols % kGroupCols);
  if (rest > 0) add_group<false>(acc, x, in, quants, scales, (rest + 3) / 4, ahead);
  finish_tile(acc, task.args, row, panel);
}

// The only block of kRows rows, which begins at `row`, for the panels [begin, end), in tiles of kPanels panels, the
// rest in smaller ones.
template <int kRows, int kPanels = kTilePanels<kRows>>
void int8_single_pass(const Int8Task& task, std::int64_t row, std::int64_t begin, std::int64_t end) {
  for (; begin + kPanels <= end; begin += kPanels) {
    constexpr std::int64_t kDistance = kPrefetchBytes / kPanels / 64 * 64;
    const std::byte* next = task.panel(begin + kPanels);
    const std::byte* quants = task.panel(begin);
    int8_tile<kRows, kPanels>(
        task, row, begin,
        {{quants + kDistance, 64, quants + task.shape.scales_offset, next}, next + task.shape.scales_offset});
  }
  if constexpr (kPanels > 1) {
    if (begin < end) int8_single_pass<kRows, (kPanels + 1) / 2>(task, row, begin, end);
  }
}

// All blocks, of kRows or kRows - 1 rows, panel by panel. Each block fetches its share of the next panels.
template <int kRows, int kPanels = kTilePanels<kRows>>
void int8_blocks(const Int8Task& task, std::int64_t begin, std::int64_t end) {
  const std::int64_t share = task.shape.scales_offset / task.blocks;
  for (; begin + kPanels <= end; begin += kPanels) {
    const std::byte* next = task.panel(begin + kPanels);
    for (int index = 0; index < task.blocks; ++index) {
      const Range block = task.block(index);
      const Int8Ahead ahead{{next + index * share, 64 / task.blocks + 1}, next + task.shape.scales_offset};
      if (block.end - block.begin == kRows) {
        int8_tile<kRows, kPanels>(task, block.begin, begin, ahead);
      } else {
        int8_tile<kRows - 1, kPanels>(task, block.begin, begin, ahead);
      }
    }
  }
  if constexpr (kPanels > 1) {
    if (begin < end) int8_blocks<kRows, (kPanels + 1) / 2>(task, begin, end);
  }
}

// Panels [begin, end) for the pass, whose largest block has `block_rows` rows.
template <int kRows = kMaxTileRows>
void int8_panels(const Int8Task& task, std::int64_t block_rows, std::int64_t begin, std::int64_t end) {
  if constexpr (kRows > 1) {
    if (block_rows < kRows) return int8_panels<kRows - 1>(task, block_rows, begin, end);
  }
  if (task.blocks == 1) return int8_single_pass<kRows>(task, task.rows.begin, begin, end);
  // More than one block means that two of them hold more than kMaxTileRows rows.
  if constexpr (2 * kRows > kMaxTileRows) int8_blocks<kRows>(task, begin, end);
}

void linear_int8(const Context& context, const LinearArgs& args) {
  if (args.rows <= 0) return;
  const Int8Shape shape = int8_shape(args.weight.cols);
  auto* groups = reinterpret_cast<Int8Group*>(linear_scratch(context, args));
  const auto passes = static_cast<int>((args.rows + kInt8Rows - 1) / kInt8Rows);
  for (int pass = 0; pass < passes; ++pass) {
    const Range rows = part_of(args.rows, pass, passes);
    const std::int64_t count = rows.end - rows.begin;
    const auto blocks = static_cast<int>((count + kMaxTileRows - 1) / kMaxTileRows);
    const Int8Task task{args, shape, rows, blocks, groups};
    const std::int64_t block_rows = (count + blocks - 1) / blocks;
    split_range(context, count * args.weight.cols >= kParallelQuantise, count,
                [&task](std::int64_t begin, std::int64_t end) { quantise_rows(task, begin, end); });
    split_range(
        context, count * args.weight.cols * args.weight.rows >= kParallelLinear, (args.weight.rows + 15) / 16,
        [&task, block_rows](std::int64_t begin, std::int64_t end) { int8_panels<>(task, block_rows, begin, end); });
  }
}
