// linear of more rows than one tile takes, with f32 or bf16 weights.
//
// Rows are cut into blocks of nearly equal size, so that no count of rows is a bad one, and each block of x is packed
// into one stream [k][row of the block]: a tile reads it in order, whatever the stride of x is (a power of two would
// put all its rows into the same place of the cache). K is cut into pieces whose weights, of the panels of one tile,
// stay in the first-level cache while all blocks pass over them; accumulators wait in memory between the pieces, for a
// group of panels at a time whose waiting ones fit the second-level cache.

// One pass over the weights: the rows [rows.begin, rows.end) in `blocks` blocks.
struct RowsPass {
  const LinearTask& task;
  Range rows;
  int blocks;
  float* packed;  // block after block

  std::int64_t size() const { return rows.end - rows.begin; }
  Range block(int index) const { return part_of(size(), index, blocks); }  // within the pass
  float* x_of(Range block) const { return packed + block.begin * task.args.weight.cols; }
};

// One block of x: transposed, sixteen k at a time.
void pack_rows_of(const RowsPass& pass, Range block) {
  const LinearArgs& args = pass.task.args;
  const std::int64_t count = block.end - block.begin;
  float* out = pass.x_of(block);
  for (std::int64_t k = 0; k < args.weight.cols; k += 16) {
    const std::int64_t lanes = smaller(16, args.weight.cols - k);
    F32x16 columns[16];
    for (std::int64_t r = 0; r < 16; ++r) {
      const float* x = args.x + (pass.rows.begin + block.begin + r) * args.x_stride + k;
      columns[r] = r >= count ? zero() : lanes == 16 ? load(x) : load_partial(x, lanes);
    }
    transpose(columns);
    for (std::int64_t i = 0; i < lanes; ++i, out += count) store_partial(out, columns[i], count);
  }
}

// Columns [cols.begin, cols.end) of one tile: the block of kRows rows, panels [panel, panel + kPanels). `waiting` are
// its accumulators between the pieces of K.
template <typename Format, int kRows, int kPanels>
[[gnu::noinline]] void rows_tile(const RowsPass& pass, Range block, std::int64_t panel, Range cols, const Ahead& ahead,
                                 F32x16* waiting) {
  Accumulators<kRows, kPanels> acc;
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int p = 0; p < kPanels; ++p) acc.sum[r][p] = cols.begin > 0 ? waiting[r * kPanels + p] : zero();
  }
  const LinearTask& task = pass.task;
  Format::template run<XLayout::kPacked>(
      acc, {pass.x_of(block) + cols.begin * kRows, kRows, task.panel(panel) + cols.begin * Format::kBytesPerCol,
            task.panel_stride, cols.end - cols.begin, ahead});
  if (cols.end == task.args.weight.cols) return finish_tile(acc, task.args, pass.rows.begin + block.begin, panel);
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int p = 0; p < kPanels; ++p) waiting[r * kPanels + p] = acc.sum[r][p];
  }
}

// All blocks, of kRows or kRows - 1 rows, over one piece of one tile's panels. Each fetches its share of `next`, the
// piece after this.
template <typename Format, int kRows, int kPanels>
void rows_piece(const RowsPass& pass, std::int64_t panel, Range cols, const std::byte* next, F32x16* waiting) {
  const std::int64_t share = (cols.end - cols.begin) * Format::kBytesPerCol / pass.blocks;
  for (int index = 0; index < pass.blocks; ++index) {
    const Range block = pass.block(index);
    const Ahead ahead{next + index * share, 64 / pass.blocks + 1};
    if (block.end - block.begin == kRows) {
      rows_tile<Format, kRows, kPanels>(pass, block, panel, cols, ahead, waiting);
    } else {
      rows_tile<Format, kRows - 1, kPanels>(pass, block, panel, cols, ahead, waiting);
    }
    waiting += (block.end - block.begin) * kPanels;
  }
}

// Panels [begin, end), a group at a time. `waiting` has room for kWaitingBytes.
template <typename Format, int kRows, int kPanels = kTilePanels<kRows>>
void rows_panels(const RowsPass& pass, std::int64_t begin, std::int64_t end, F32x16* waiting) {
  constexpr std::int64_t kPieceCols = kPieceBytes / kPanels / Format::kBytesPerCol / 2 * 2;
  const std::int64_t total = pass.task.args.weight.cols;
  const std::int64_t tiles = larger(kWaitingBytes / (pass.size() * kPanels * 64), 1);  // of a group
  while (begin + kPanels <= end) {
    const std::int64_t group_end = begin + smaller(tiles, (end - begin) / kPanels) * kPanels;
    for (std::int64_t first = 0; first == 0 || first < total; first += kPieceCols) {
      const Range cols{first, smaller(first + kPieceCols, total)};
      for (std::int64_t panel = begin; panel < group_end; panel += kPanels) {
        const bool last_tile = panel + kPanels == group_end;
        const std::int64_t next_panel = last_tile && cols.end < total ? begin : panel + kPanels;
        const std::int64_t next_col = !last_tile ? first : cols.end < total ? cols.end : 0;
        rows_piece<Format, kRows, kPanels>(pass, panel, cols,
                                           pass.task.panel(next_panel) + next_col * Format::kBytesPerCol,
                                           waiting + (panel - begin) * pass.size());
      }
    }
    begin = group_end;
  }
  if constexpr (kPanels > 1) {
    if (begin < end) rows_panels<Format, kRows, (kPanels + 1) / 2>(pass, begin, end, waiting);
  }
}

// The same for blocks of at most `block_rows` rows.
template <typename Format, int kRows = kMaxTileRows>
void rows_pass(const RowsPass& pass, std::int64_t block_rows, std::int64_t begin, std::int64_t end, F32x16* waiting) {
  // More than one block means that two of them hold more than kMaxTileRows rows.
  if constexpr (2 * (kRows - 1) > kMaxTileRows) {
    if (block_rows < kRows) return rows_pass<Format, kRows - 1>(pass, block_rows, begin, end, waiting);
  }
  rows_panels<Format, kRows>(pass, begin, end, waiting);
}

template <typename Format>
void linear_many_rows(const Context& context, const LinearTask& task) {
  const LinearArgs& args = task.args;
  const RowsScratch scratch = rows_scratch(context, args);
  const auto passes = static_cast<int>((args.rows + kPassRows - 1) / kPassRows);
  for (int index = 0; index < passes; ++index) {
    const Range rows = part_of(args.rows, index, passes);
    const std::int64_t count = rows.end - rows.begin;
    const auto blocks = static_cast<int>((count + kMaxTileRows - 1) / kMaxTileRows);
    const RowsPass pass{task, rows, blocks, scratch.packed};
    split_range(context, count * args.weight.cols >= kParallelPacking, blocks,
                [&pass](std::int64_t begin, std::int64_t end) {
                  for (std::int64_t b = begin; b < end; ++b) pack_rows_of(pass, pass.block(static_cast<int>(b)));
                });
    struct Call {
      const RowsPass& pass;
      std::byte* waiting;
      std::int64_t panels;
    } call{pass, scratch.waiting, (args.weight.rows + 15) / 16};
    const auto body = [](void* argument, int worker, int workers) {
      const auto* shared = static_cast<const Call*>(argument);
      const Range part = part_of(shared->panels, worker, workers);
      const std::int64_t block_rows = (shared->pass.size() + shared->pass.blocks - 1) / shared->pass.blocks;
      auto* waiting = reinterpret_cast<F32x16*>(shared->waiting + worker * kWaitingBytes);
      rows_pass<Format>(shared->pass, block_rows, part.begin, part.end, waiting);
    };
    if (count * args.weight.cols * args.weight.rows < kParallelLinear) {
      body(&call, 0, 1);
    } else {
      run_workers(context, &call, body);
    }
  }
}
