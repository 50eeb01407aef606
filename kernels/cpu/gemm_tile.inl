// Products of small matrices that lie in the caches: the part shared by matmul and causal_attention.
//
// Every output is one accumulator that walks k in order, in registers within one call and in C between calls. So the
// shape of the tiles, and where k is cut, never enter a result.

constexpr std::int64_t kGemmParallelMacs = 128 * 1024;  // some microseconds of work; below, threads cost more than that

// A [rows, inner]: element (m, k) at `at + m * row + k * col`.
struct GemmLeft {
  const float* at;
  std::int64_t row, col;
};
// B [inner, cols] in panels of 16 columns: element (k, n) at `at + n / 16 * panel + k * 16 + n % 16`. The last panel is
// whole as well.
struct GemmRight {
  const float* at;
  std::int64_t panel;
};
// C [rows, cols], rows `row` apart.
struct GemmOut {
  float* at;
  std::int64_t row;
};

// Memory that is needed later: `count` lines `step` floats apart, then those beside them, `lines` in all. The tiles
// fetch one of them into the second-level cache every kGemmSlot steps of k, so that fetching never holds up the work.
struct GemmAhead {
  const float* at;
  std::int64_t step = 0;
  std::int64_t count = 1;
  std::int64_t lines = 0;
  std::int64_t left = count;  // of the current `count`
};
constexpr int kGemmSlot = 4;

// What the tiles of a row of tiles fetch: the one, then the other.
struct GemmPlan {
  GemmAhead first, second;

  MT_INLINE GemmAhead& next() { return first.lines > 0 ? first : second; }
};

// The widths that a tile of kRows rows takes at once: as many accumulators as there are, but not more than 8 panels.
template <int kRows>
constexpr int kGemmPanels = kAccumulators / kRows < 8 ? kAccumulators / kRows : 8;

// C = A B, or C += A B with `accumulate`, for kRows rows and kPanels panels, of which `cols` columns exist. Meanwhile
// the tile of C at `next` is fetched: the one that comes afterwards.
template <int kRows, int kPanels>
[[gnu::noinline]] void gemm_tile(const GemmLeft& a, const GemmRight& b, const GemmOut& c, std::int64_t cols,
                                 std::int64_t inner, bool accumulate, const float* next, GemmAhead& ahead) {
  F32x16 sum[kRows][kPanels];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int p = 0; p < kPanels; ++p) sum[r][p] = zero();
  }
  const std::int64_t last = cols - (kPanels - 1) * 16;  // columns of the last panel
  if (accumulate) {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const float* place = c.at + r * c.row;
#pragma GCC unroll 16
      for (int p = 0; p + 1 < kPanels; ++p) sum[r][p] = load(place + p * 16);
      sum[r][kPanels - 1] =
          last >= 16 ? load(place + kPanels * 16 - 16) : load_partial(place + kPanels * 16 - 16, last);
    }
  }
  const float* left = a.at;
  const float* right = b.at;
  const auto multiply_add = [&]() __attribute__((always_inline)) {
    F32x16 w[kPanels];
#pragma GCC unroll 16
    for (int p = 0; p < kPanels; ++p) w[p] = load(right + p * b.panel);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const F32x16 value = broadcast(left[r * a.row]);
#pragma GCC unroll 16
      for (int p = 0; p < kPanels; ++p) sum[r][p] = fma(value, w[p], sum[r][p]);
    }
    left += a.col;
    right += 16;
  };
  const float* fetched = ahead.at;
  std::int64_t lines_left = ahead.left;
  const std::int64_t ahead_step = ahead.lines > 0 ? ahead.step : 0;
  const std::int64_t ahead_jump = ahead.lines > 0 ? 16 - (ahead.count - 1) * ahead.step : 0;
  const float* const next_end = next + kRows * c.row;
  std::int64_t k = 0;
  for (; k + kGemmSlot <= inner; k += kGemmSlot) {
#pragma GCC unroll 16
    for (int p = 0; p < kPanels; ++p) prefetch(next + p * 16);
    next = next + c.row == next_end ? next : next + c.row;
    __builtin_prefetch(fetched, 0, 2);
    const bool last_line = --lines_left == 0;
    fetched += last_line ? ahead_jump : ahead_step;
    lines_left = last_line ? ahead.count : lines_left;
#pragma GCC unroll 16
    for (int i = 0; i < kGemmSlot; ++i) multiply_add();
  }
  for (; k < inner; ++k) multiply_add();
  if (ahead.lines > 0) {
    ahead.at = fetched;
    ahead.left = lines_left;
    ahead.lines -= inner / kGemmSlot;
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    float* place = c.at + r * c.row;
#pragma GCC unroll 16
    for (int p = 0; p + 1 < kPanels; ++p) store(place + p * 16, sum[r][p]);
    if (last >= 16) {
      store(place + kPanels * 16 - 16, sum[r][kPanels - 1]);
    } else {
      store_partial(place + kPanels * 16 - 16, sum[r][kPanels - 1], last);
    }
  }
}

// All columns for kRows rows: tiles of kPanels panels, the rest in narrower ones. `next` is what comes after them.
template <int kRows, int kPanels = kGemmPanels<kRows>>
void gemm_row_tiles(const GemmLeft& a, GemmRight b, GemmOut c, std::int64_t cols, std::int64_t inner, bool accumulate,
                    const float* next, GemmPlan& plan) {
  constexpr std::int64_t kWidth = kPanels * 16;
  for (; cols > kWidth - 16; cols -= kWidth) {
    const bool more = cols > kWidth;
    gemm_tile<kRows, kPanels>(a, b, c, smaller(cols, kWidth), inner, accumulate, more ? c.at + kWidth : next,
                              plan.next());
    b.at += kPanels * b.panel;
    c.at += kWidth;
  }
  if constexpr (kPanels > 1) {
    if (cols > 0) gemm_row_tiles<kRows, (kPanels + 1) / 2>(a, b, c, cols, inner, accumulate, next, plan);
  }
}

// C = A B or C += A B for 0 < rows <= kMaxTileRows.
template <int kRows = kMaxTileRows>
void gemm_rows(std::int64_t rows, const GemmLeft& a, const GemmRight& b, const GemmOut& c, std::int64_t cols,
               std::int64_t inner, bool accumulate, GemmPlan& plan) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return gemm_rows<kRows - 1>(rows, a, b, c, cols, inner, accumulate, plan);
  }
  gemm_row_tiles<kRows>(a, b, c, cols, inner, accumulate, c.at + kRows * c.row, plan);
}

// The same where nothing is to be fetched.
MT_INLINE void gemm_rows(std::int64_t rows, const GemmLeft& a, const GemmRight& b, const GemmOut& c, std::int64_t cols,
                         std::int64_t inner, bool accumulate) {
  GemmPlan nothing{{a.at}, {a.at}};
  gemm_rows<kMaxTileRows>(rows, a, b, c, cols, inner, accumulate, nothing);
}

// Rows [0, rows) in blocks of nearly equal size, at most kMaxTileRows.
struct RowBlocks {
  std::int64_t count, size, larger;  // the first `larger` blocks have one row more than `size`

  explicit RowBlocks(std::int64_t rows)
      : count((rows + kMaxTileRows - 1) / kMaxTileRows), size(rows / count), larger(rows % count) {}
  std::int64_t begin(std::int64_t i) const { return size * i + smaller(i, larger); }
  std::int64_t size_of(std::int64_t i) const { return size + (i < larger ? 1 : 0); }
};

// Copies columns [0, cols) and rows [0, inner) of a matrix whose element (k, n) lies at `from + k * row + n * col` into
// one panel of 16 columns, k after k; missing columns become 0.
void pack_panel(const float* from, std::int64_t row, std::int64_t col, std::int64_t cols, std::int64_t inner,
                float* panel) {
  if (col == 1) {
    for (std::int64_t k = 0; k < inner; ++k) store(panel + k * 16, load_partial(from + k * row, cols));
    return;
  }
  if (row != 1) {
    for (std::int64_t k = 0; k < inner; ++k) {
      for (std::int64_t n = 0; n < 16; ++n) panel[k * 16 + n] = n < cols ? from[k * row + n * col] : 0.0f;
    }
    return;
  }
  for (std::int64_t k = 0; k < inner; k += 16) {
    const std::int64_t count = smaller(16, inner - k);
    F32x16 block[16];
#pragma GCC unroll 16
    for (int n = 0; n < 16; ++n) block[n] = n < cols ? load_partial(from + n * col + k, count) : zero();
    transpose(block);
    if (count == 16) {
#pragma GCC unroll 16
      for (int i = 0; i < 16; ++i) store(panel + (k + i) * 16, block[i]);
    } else {
      for (std::int64_t i = 0; i < count; ++i) store(panel + (k + i) * 16, block[i]);
    }
  }
}

// All columns of such a matrix, panel after panel.
void pack_panels(const float* from, std::int64_t row, std::int64_t col, std::int64_t cols, std::int64_t inner,
                 float* panels) {
  for (std::int64_t n = 0; n < cols; n += 16) {
    pack_panel(from + n * col, row, col, smaller(16, cols - n), inner, panels + n * inner);
  }
}
