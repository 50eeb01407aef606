// matmul: every thread computes rectangles of the outputs, over blocks of A and B that are packed for it alone.

// The outputs of one thread: a part of one product.
struct MatmulPart {
  const MatmulArgs& args;
  const float* a;
  const float* b;
  float* c;
  Range rows, cols;
  float* left;   // a packed block of rows of A
  float* right;  // packed block of B
};

// A piece of k of one part: A [rows, inner] as it lies in memory, B packed.
struct MatmulPiece {
  GemmLeft a;
  GemmRight b;
  std::int64_t rows, cols, inner;
  // B of the next piece: `runs` runs of `run_lines` lines, `run_stride` floats apart.
  const float* next_b;
  std::int64_t runs, run_lines, run_stride;
};

// C = A B or C += A B for a piece, in blocks of rows. Rows whose k are neighbours are read where they lie; others are
// packed into `panel`, one block at a time. Meanwhile the next block is fetched, or the first one of the next piece,
// and a share of its B.
void matmul_piece(const MatmulPiece& piece, const GemmOut& c, bool accumulate, float* panel) {
  const GemmLeft& a = piece.a;
  const RowBlocks blocks(piece.rows);
  for (std::int64_t i = 0; i < blocks.count; ++i) {
    const std::int64_t count = blocks.size_of(i);
    const float* at = a.at + blocks.begin(i) * a.row;
    const float* after = i + 1 < blocks.count ? at + count * a.row : a.at + piece.inner * a.col;
    const Range runs{piece.runs * i / blocks.count, piece.runs * (i + 1) / blocks.count};
    GemmPlan plan{{after},
                  {piece.next_b + runs.begin * piece.run_stride, piece.run_stride, larger(runs.end - runs.begin, 1),
                   (runs.end - runs.begin) * piece.run_lines}};
    const GemmOut out{c.at + blocks.begin(i) * c.row, c.row};
    if (a.col == 1) {
      plan.first = {after, a.row, count, count * ((piece.inner + 15) / 16)};
      gemm_rows(count, {at, a.row, 1}, piece.b, out, piece.cols, piece.inner, accumulate, plan);
    } else {
      // Where the rows are neighbours: the last one's line, as the first one's is that of the block before.
      if (a.row == 1) plan.first = {after + count - 1, a.col, piece.inner, piece.inner};
      pack_panel(at, a.col, a.row, count, piece.inner, panel);
      gemm_rows(count, {panel, 1, 16}, piece.b, out, piece.cols, piece.inner, accumulate, plan);
    }
  }
}

// K is cut into pieces of nearly equal size; between them the sums wait in C.
void matmul_part(const MatmulPart& part) {
  const MatmulArgs& args = part.args;
  const std::int64_t longest = args.a_col == 1 ? MatmulBlocks::kInner : MatmulBlocks::kInnerPacked;
  const std::int64_t pieces = larger(1, (args.inner + longest - 1) / longest);
  for (std::int64_t n = part.cols.begin; n < part.cols.end; n += MatmulBlocks::kCols) {
    const std::int64_t cols = smaller(part.cols.end - n, MatmulBlocks::kCols);
    for (std::int64_t i = 0; i < pieces; ++i) {
      const std::int64_t k = args.inner * i / pieces;
      const std::int64_t inner = args.inner * (i + 1) / pieces - k;
      const float* b = part.b + k * args.b_row + n * args.b_col;
      pack_panels(b, args.b_row, args.b_col, cols, inner, part.right);
      MatmulPiece piece{.a = {part.a + part.rows.begin * args.a_row + k * args.a_col, args.a_row, args.a_col},
                        .b = {part.right, 16 * inner},
                        .rows = part.rows.end - part.rows.begin,
                        .cols = cols,
                        .inner = inner,
                        .next_b = b + inner * args.b_row,
                        .runs = 0,
                        .run_lines = 0,
                        .run_stride = 0};
      if (i + 1 < pieces && args.b_col == 1) {
        piece.runs = inner;
        piece.run_lines = (cols + 15) / 16;
        piece.run_stride = args.b_row;
      } else if (i + 1 < pieces && args.b_row == 1) {
        piece.runs = cols;
        piece.run_lines = (inner + 15) / 16;
        piece.run_stride = args.b_col;
      }
      matmul_piece(piece, {part.c + part.rows.begin * args.c_row + n, args.c_row}, args.accumulate || i > 0, part.left);
    }
  }
}

// How many parts the rows and the columns of every product are cut into: as squarely as possible, because a part packs
// its own operands. A single part each when there are products enough for all threads.
struct MatmulGrid {
  std::int64_t rows = 1, cols = 1;
};
MatmulGrid matmul_grid(const MatmulArgs& args, std::int64_t threads) {
  if (args.batches >= 4 * threads || args.batches % threads == 0) return {};
  MatmulGrid best{threads, 1};
  for (std::int64_t rows = 1; rows < threads; ++rows) {
    const std::int64_t cols = threads / rows;
    if (rows * cols != threads) continue;
    if (args.rows / rows + args.cols / cols < args.rows / best.rows + args.cols / best.cols) best = {rows, cols};
  }
  return best;
}

void matmul(const Context& context, const MatmulArgs& args) {
  struct Call {
    const MatmulArgs* args;
    float* scratch;
  } call{&args, matmul_scratch(context, args)};
  if (args.dtype == DType::kF64) return portable::matmul_f64(context, args);
  if (args.batches <= 0 || args.rows <= 0 || args.cols <= 0) return;
  const auto body = [](void* argument, int worker, int count) {
    const auto* shared = static_cast<const Call*>(argument);
    const MatmulArgs& all = *shared->args;
    const MatmulGrid grid = matmul_grid(all, count);
    const std::int64_t parts = grid.rows * grid.cols;
    const std::int64_t left_floats = matmul_left_floats(all);
    float* scratch = shared->scratch + worker * (left_floats + matmul_right_floats(all));
    const Range tasks = part_of(all.batches * parts, worker, count);
    for (std::int64_t task = tasks.begin; task < tasks.end; ++task) {
      const std::int64_t batch = task / parts;
      const Range rows = part_of(all.rows, static_cast<int>(task % parts / grid.cols), static_cast<int>(grid.rows));
      const Range panels =
          part_of((all.cols + 15) / 16, static_cast<int>(task % grid.cols), static_cast<int>(grid.cols));
      if (rows.begin == rows.end) continue;
      matmul_part({all,
                   static_cast<const float*>(all.a) + batch * all.a_batch,
                   static_cast<const float*>(all.b) + batch * all.b_batch,
                   static_cast<float*>(all.c) + batch * all.c_batch,
                   rows,
                   {panels.begin * 16, smaller(panels.end * 16, all.cols)},
                   scratch,
                   scratch + left_floats});
    }
  };
  if (args.batches * args.rows * args.cols * larger(args.inner, 1) < kGemmParallelMacs) return body(&call, 0, 1);
  run_workers(context, &call, body);
}
