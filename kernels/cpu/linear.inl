// linear: tiles of rows x panels over the packed weights.
//
// Every output is one accumulator that walks k in order, then bias, then residual, whatever tile computes it. So a
// row's result depends neither on other rows nor on threads (exactness rule E1): the shape of the tiles is free.
//
// Up to kMaxTileRows rows pass over the weights once, with the accumulators in registers from the first k to the last.
// More rows are cut into blocks of nearly equal size, so that no count of rows is a bad one. Up to kMaxBlocks of them
// pass over the weights together, in pieces of kColsPerPass columns of a few panels: a piece stays in the first-level
// cache while the next one is fetched, and the accumulators wait in memory. Even more blocks pass one after the other
// over groups of panels that fit the second-level cache.

constexpr int kMaxBlocks = 8;  // row blocks that pass together
constexpr std::int64_t kColsPerPass = 256;
constexpr std::int64_t kGroupBytes = 768 * 1024;  // of weights kept in the second-level cache when even more rows come

// One product and where its panels are.
struct LinearTask {
  const LinearArgs& args;
  std::int64_t panel_stride;  // bytes

  const std::byte* panel(std::int64_t index) const { return args.weight.panels + index * panel_stride; }
};

// Columns [cols.begin, cols.end) of one tile: rows [row, row + kRows), panels [panel, panel + kPanels). When that is
// not all of K (kPiece), the accumulators wait in `waiting` between the pieces.
template <typename Format, int kRows, int kPanels, bool kPiece>
[[gnu::noinline]] void linear_tile(const LinearTask& task, std::int64_t row, std::int64_t panel, Range cols,
                                   const Ahead& ahead, F32x16* waiting) {
  Accumulators<kRows, kPanels> acc;
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int p = 0; p < kPanels; ++p) acc.sum[r][p] = kPiece && cols.begin > 0 ? waiting[r * kPanels + p] : zero();
  }
  const LinearArgs& args = task.args;
  Format::run(acc,
              {args.x + row * args.x_stride + cols.begin, args.x_stride,
               task.panel(panel) + cols.begin * Format::kBytesPerCol, task.panel_stride, cols.end - cols.begin, ahead});
  if (!kPiece || cols.end == args.weight.cols) return finish_tile(acc, args, row, panel);
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int p = 0; p < kPanels; ++p) waiting[r * kPanels + p] = acc.sum[r][p];
  }
}

// All of k for rows [row, row + kRows) and panels [begin, end), in tiles of kPanels panels, the rest in smaller ones.
template <typename Format, int kRows, int kPanels = kTilePanels<kRows>>
void linear_single_pass(const LinearTask& task, std::int64_t row, std::int64_t begin, std::int64_t end) {
  for (; begin + kPanels <= end; begin += kPanels) {
    constexpr std::int64_t kDistance = kPrefetchBytes / kPanels / 64 * 64;
    const Ahead ahead{task.panel(begin) + kDistance, 64, task.panel(begin + 1), task.panel(begin + kPanels)};
    linear_tile<Format, kRows, kPanels, false>(task, row, begin, {0, task.args.weight.cols}, ahead, nullptr);
  }
  if constexpr (kPanels > 1) {
    if (begin < end) linear_single_pass<Format, kRows, (kPanels + 1) / 2>(task, row, begin, end);
  }
}

// Rows [rows.begin, rows.end) in `blocks` blocks of kRows or kRows - 1 rows, for the panels [begin, end).
template <typename Format, int kRows, int kPanels = kTilePanels<kRows>>
void linear_blocks(const LinearTask& task, Range rows, int blocks, std::int64_t begin, std::int64_t end) {
  F32x16 waiting[kMaxBlocks][kRows * kPanels];
  const std::int64_t total = task.args.weight.cols;
  for (; begin + kPanels <= end; begin += kPanels) {
    for (std::int64_t first = 0; first < total; first += kColsPerPass) {
      const Range cols{first, smaller(first + kColsPerPass, total)};
      // Each block fetches its share of the next piece: of these panels, or of the next ones.
      const std::byte* next =
          cols.end < total ? task.panel(begin) + cols.end * Format::kBytesPerCol : task.panel(begin + kPanels);
      const std::int64_t share = (cols.end - cols.begin) * Format::kBytesPerCol / blocks;
      for (int block = 0; block < blocks; ++block) {
        const Range part = part_of(rows.end - rows.begin, block, blocks);
        const std::int64_t row = rows.begin + part.begin;
        const Ahead ahead{next + block * share, 64 / blocks + 1};
        if (part.end - part.begin == kRows) {
          linear_tile<Format, kRows, kPanels, true>(task, row, begin, cols, ahead, waiting[block]);
        } else {
          linear_tile<Format, kRows - 1, kPanels, true>(task, row, begin, cols, ahead, waiting[block]);
        }
      }
    }
  }
  if constexpr (kPanels > 1) {
    if (begin < end) linear_blocks<Format, kRows, (kPanels + 1) / 2>(task, rows, blocks, begin, end);
  }
}

// Rows [rows.begin, rows.end) in `blocks` blocks, the largest of `block_rows` rows, for the panels [begin, end).
template <typename Format, int kRows = kMaxTileRows>
void linear_rows(const LinearTask& task, Range rows, int blocks, std::int64_t block_rows, std::int64_t begin,
                 std::int64_t end) {
  if constexpr (kRows > 1) {
    if (block_rows < kRows) return linear_rows<Format, kRows - 1>(task, rows, blocks, block_rows, begin, end);
  }
  if (blocks == 1) return linear_single_pass<Format, kRows>(task, rows.begin, begin, end);
  // More than one block means that two of them hold more than kMaxTileRows rows.
  if constexpr (2 * kRows > kMaxTileRows) linear_blocks<Format, kRows>(task, rows, blocks, begin, end);
}

// All rows times panels [begin, end).
template <typename Format>
void linear_panels(const LinearArgs& args, std::int64_t begin, std::int64_t end) {
  const LinearTask task{args, (args.weight.cols * Format::kBytesPerCol + 63) / 64 * 64};
  const auto blocks = static_cast<int>((args.rows + kMaxTileRows - 1) / kMaxTileRows);
  if (blocks <= kMaxBlocks) {
    return linear_rows<Format>(task, {0, args.rows}, blocks, (args.rows + blocks - 1) / blocks, begin, end);
  }
  constexpr std::int64_t kStep = kTilePanels<kMaxTileRows>;
  const std::int64_t group = larger(kGroupBytes / larger(task.panel_stride, 1) / kStep, 1) * kStep;
  for (std::int64_t first = begin; first < end; first += group) {
    for (int block = 0; block < blocks; ++block) {
      const Range rows = part_of(args.rows, block, blocks);
      linear_rows<Format>(task, rows, 1, rows.end - rows.begin, first, smaller(first + group, end));
    }
  }
}

void linear(const Context& context, const LinearArgs& args) {
  if (is_quantised(args.weight.format)) return linear_quantised(context, args);
  if (args.rows <= 0) return;
  const std::int64_t panels = (args.weight.rows + 15) / 16;
  const bool parallel = args.rows * args.weight.cols * args.weight.rows >= kParallelLinear;
  split_range(context, parallel, panels, [&args](std::int64_t begin, std::int64_t end) {
    switch (args.weight.format) {
      case PackedFormat::kF32: return linear_panels<F32Panels>(args, begin, end);
      case PackedFormat::kBF16: return linear_panels<BF16Panels>(args, begin, end);
      case PackedFormat::kInt8:
      case PackedFormat::kInt4: return;  // above
    }
  });
}
