// The tile of linear: kRows rows of x times kPanels panels, one accumulator vector each, k strictly in order.

constexpr int kMaxTilePanels = 8;
constexpr std::int64_t kPrefetchBytes = 8192;         // ahead of all panels of a tile, in a single pass
constexpr std::int64_t kParallelLinear = 128 * 1024;  // thresholds are explained in kernels/README.md

// One product and where its panels are.
struct LinearTask {
  const LinearArgs& args;
  std::int64_t panel_stride;  // bytes

  const std::byte* panel(std::int64_t index) const { return args.weight.panels + index * panel_stride; }
};

// Panels that a tile of kRows rows takes at once: enough accumulators to hide the latency of a multiply-add, and with
// few rows several streams of weights in flight.
template <int kRows>
constexpr int kTilePanels = kAccumulators / kRows < kMaxTilePanels ? kAccumulators / kRows : kMaxTilePanels;

// What a tile fetches for later while it runs: in each of its panels from `from` on, `step` bytes further at every
// step, and once at `end`, from `next` on.
struct Ahead {
  const std::byte* from;
  std::int64_t step;
  const std::byte* end = nullptr;
  const std::byte* next = nullptr;
};

// A tile's operands over a range of k. Panel p begins at panels + p * panel_stride; for x see XLayout.
struct TileOperands {
  const float* x;
  std::int64_t x_stride;
  const std::byte* panels;
  std::int64_t panel_stride;  // bytes
  std::int64_t cols;          // number of k
  Ahead ahead;
};

template <int kRows, int kPanels>
struct Accumulators {
  F32x16 sum[kRows][kPanels];
};

// Where a tile finds x[r][k]: in rows, at x + r * x_stride + k, or in one stream, at x + k * kRows + r.
enum class XLayout { kRows, kPacked };

// sum[r][p] += x[r][k] * w[p].
template <XLayout kLayout, int kRows, int kPanels>
MT_INLINE void multiply_add(Accumulators<kRows, kPanels>& acc, const TileOperands& in, std::int64_t k,
                            const F32x16 (&w)[kPanels]) {
  const float* x = kLayout == XLayout::kPacked ? in.x + k * kRows : in.x + k;
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    const F32x16 value = broadcast(kLayout == XLayout::kPacked ? x[r] : x[r * in.x_stride]);
#pragma GCC unroll 16
    for (int p = 0; p < kPanels; ++p) acc.sum[r][p] = fma(value, w[p], acc.sum[r][p]);
  }
}

template <int kPanels>
MT_INLINE void prefetch_panels(const std::byte*& place, const TileOperands& in) {
#pragma GCC unroll 16
  for (int p = 0; p < kPanels; ++p) prefetch(place + p * in.panel_stride);
  place += in.ahead.step;
  if (place == in.ahead.end) place = in.ahead.next;
}

struct F32Panels {
  static constexpr std::int64_t kBytesPerCol = 64;

  template <XLayout kLayout, int kRows, int kPanels>
  MT_INLINE static void run(Accumulators<kRows, kPanels>& acc, const TileOperands& in) {
    const std::byte* panels = in.panels;
    const std::byte* ahead = in.ahead.from;
    for (std::int64_t k = 0; k < in.cols; ++k, panels += 64) {
      prefetch_panels<kPanels>(ahead, in);
      F32x16 w[kPanels];
#pragma GCC unroll 16
      for (int p = 0; p < kPanels; ++p) w[p] = load(reinterpret_cast<const float*>(panels + p * in.panel_stride));
      multiply_add<kLayout>(acc, in, k, w);
    }
  }
};

// bf16 weights come in pairs of k, widened exactly: the even k sits in the low half of each lane.
struct BF16Panels {
  static constexpr std::int64_t kBytesPerCol = 32;

  template <XLayout kLayout, int kRows, int kPanels>
  MT_INLINE static void run(Accumulators<kRows, kPanels>& acc, const TileOperands& in) {
    const std::byte* panels = in.panels;
    const std::byte* ahead = in.ahead.from;
    std::int64_t k = 0;
    for (; k + 2 <= in.cols; k += 2, panels += 64) {
      prefetch_panels<kPanels>(ahead, in);
      U32x16 pairs[kPanels];
      F32x16 w[kPanels];
#pragma GCC unroll 16
      for (int p = 0; p < kPanels; ++p) {
        pairs[p] = load_u32(panels + p * in.panel_stride);
        w[p] = even_of(pairs[p]);
      }
      multiply_add<kLayout>(acc, in, k, w);
#pragma GCC unroll 16
      for (int p = 0; p < kPanels; ++p) w[p] = odd_of(pairs[p]);
      multiply_add<kLayout>(acc, in, k + 1, w);
    }
    if (k == in.cols) return;
    F32x16 w[kPanels];  // odd K: the padding half of the last pair is not used
#pragma GCC unroll 16
    for (int p = 0; p < kPanels; ++p) w[p] = even_of(load_u32(panels + p * in.panel_stride));
    multiply_add<kLayout>(acc, in, k, w);
  }

  MT_INLINE static F32x16 even_of(U32x16 pairs) { return as_float(shift_left<16>(pairs)); }
  MT_INLINE static F32x16 odd_of(U32x16 pairs) { return as_float(bit_and(pairs, broadcast_u32(0xFFFF0000u))); }
};

// Adds bias and residual to a tile and stores it; the last panel may have fewer than 16 outputs.
template <int kRows, int kPanels>
MT_INLINE void finish_tile(Accumulators<kRows, kPanels>& acc, const LinearArgs& args, std::int64_t row,
                           std::int64_t panel) {
#pragma GCC unroll 16
  for (int p = 0; p < kPanels; ++p) {
    const std::int64_t n = (panel + p) * 16;
    const std::int64_t count = smaller(16, args.weight.rows - n);
    const F32x16 bias = args.bias != nullptr ? load_partial(args.bias + n, count) : zero();
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      F32x16 sum = acc.sum[r][p];
      if (args.bias != nullptr) sum = add(sum, bias);
      if (args.residual != nullptr) {
        sum = add(sum, load_partial(args.residual + (row + r) * args.residual_stride + n, count));
      }
      store_partial(args.y + (row + r) * args.y_stride + n, sum, count);
    }
  }
}
