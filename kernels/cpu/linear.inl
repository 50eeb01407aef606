// linear: tiles of rows x panels over the packed weights.
//
// Every output is one accumulator that walks k in order, then bias, then residual, whatever tile computes it. So a
// row's result depends neither on other rows nor on threads (exactness rule E1): the shape of the tiles is free.
//
// Up to kMaxTileRows rows pass over the weights once, with the accumulators in registers from the first k to the last.
// More rows: linear_rows.inl.

// All of k for one tile: rows [0, kRows), panels [panel, panel + kPanels).
template <typename Format, int kRows, int kPanels>
[[gnu::noinline]] void linear_tile(const LinearTask& task, std::int64_t panel, const Ahead& ahead) {
  Accumulators<kRows, kPanels> acc;
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int p = 0; p < kPanels; ++p) acc.sum[r][p] = zero();
  }
  const LinearArgs& args = task.args;
  Format::template run<XLayout::kRows>(
      acc, {args.x, args.x_stride, task.panel(panel), task.panel_stride, args.weight.cols, ahead});
  finish_tile(acc, args, 0, panel);
}

// kRows rows and panels [begin, end), in tiles of kPanels panels, the rest in smaller ones.
template <typename Format, int kRows, int kPanels = kTilePanels<kRows>>
void linear_single_pass(const LinearTask& task, std::int64_t begin, std::int64_t end) {
  for (; begin + kPanels <= end; begin += kPanels) {
    constexpr std::int64_t kDistance = kPrefetchBytes / kPanels / 64 * 64;
    const Ahead ahead{task.panel(begin) + kDistance, 64, task.panel(begin + 1), task.panel(begin + kPanels)};
    linear_tile<Format, kRows, kPanels>(task, begin, ahead);
  }
  if constexpr (kPanels > 1) {
    if (begin < end) linear_single_pass<Format, kRows, (kPanels + 1) / 2>(task, begin, end);
  }
}

// All rows, at most kRows, times panels [begin, end).
template <typename Format, int kRows = kMaxTileRows>
void linear_panels(const LinearTask& task, std::int64_t begin, std::int64_t end) {
  if constexpr (kRows > 1) {
    if (task.args.rows < kRows) return linear_panels<Format, kRows - 1>(task, begin, end);
  }
  linear_single_pass<Format, kRows>(task, begin, end);
}

template <typename Format>
void linear_of(const Context& context, const LinearArgs& args) {
  const LinearTask task{args, panel_bytes(args.weight.format, args.weight.cols)};
  if (args.rows > kMaxTileRows) return linear_many_rows<Format>(context, task);
  const bool parallel = args.rows * args.weight.cols * args.weight.rows >= kParallelLinear;
  split_range(context, parallel, (args.weight.rows + 15) / 16,
              [&task](std::int64_t begin, std::int64_t end) { linear_panels<Format>(task, begin, end); });
}

void linear(const Context& context, const LinearArgs& args) {
  if (args.rows <= 0) return;
  switch (args.weight.format) {
    case PackedFormat::kF32: return linear_of<F32Panels>(context, args);
    case PackedFormat::kBF16: return linear_of<BF16Panels>(context, args);
    case PackedFormat::kInt8:
    case PackedFormat::kInt4: return linear_quantised(context, args);
  }
}
