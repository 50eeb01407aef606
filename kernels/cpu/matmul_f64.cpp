// matmul of f64, written once for all CPU tables: it serves gradient checks, not training.
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/portable.h"

namespace minitorch::kernels::portable {
namespace {

constexpr std::int64_t kInner = 32;  // a block of B [kInner, kCols] is copied to the stack, 16 KiB
constexpr std::int64_t kCols = 64;

struct Block {
  double b[kInner][kCols];
  std::int64_t inner, cols;
};

void copy_block(const MatmulArgs& args, const double* b, Block& block) {
  for (std::int64_t k = 0; k < block.inner; ++k) {
    for (std::int64_t n = 0; n < block.cols; ++n) block.b[k][n] = b[k * args.b_row + n * args.b_col];
  }
}

// c += a B over the block; `a` is the row's element at the block's first k.
void add_row(const MatmulArgs& args, const double* a, const Block& block, double* __restrict c) {
  for (std::int64_t k = 0; k < block.inner; ++k) {
    const double value = a[k * args.a_col];
    for (std::int64_t n = 0; n < block.cols; ++n) c[n] += value * block.b[k][n];
  }
}

// Rows [begin, end) of one product. The sums wait in C between the blocks.
void multiply_rows(const MatmulArgs& args, std::int64_t batch, std::int64_t begin, std::int64_t end) {
  const double* a = static_cast<const double*>(args.a) + batch * args.a_batch;
  const double* b = static_cast<const double*>(args.b) + batch * args.b_batch;
  double* c = static_cast<double*>(args.c) + batch * args.c_batch;
  for (std::int64_t m = begin; m < end && !args.accumulate; ++m) {
    for (std::int64_t n = 0; n < args.cols; ++n) c[m * args.c_row + n] = 0.0;
  }
  Block block;
  for (std::int64_t n = 0; n < args.cols; n += kCols) {
    block.cols = n + kCols < args.cols ? kCols : args.cols - n;
    for (std::int64_t k = 0; k < args.inner; k += kInner) {
      block.inner = k + kInner < args.inner ? kInner : args.inner - k;
      copy_block(args, b + k * args.b_row + n * args.b_col, block);
      for (std::int64_t m = begin; m < end; ++m) {
        add_row(args, a + m * args.a_row + k * args.a_col, block, c + m * args.c_row + n);
      }
    }
  }
}

}  // namespace

void matmul_f64(const Context& context, const MatmulArgs& args) {
  struct Call {
    const MatmulArgs* args;
  } call{&args};
  const auto body = [](void* argument, int worker, int count) {
    const MatmulArgs& all = *static_cast<const Call*>(argument)->args;
    for (std::int64_t batch = 0; batch < all.batches; ++batch) {
      const Range rows = part_of(all.rows, worker, count);
      multiply_rows(all, batch, rows.begin, rows.end);
    }
  };
  constexpr std::int64_t kParallelMacs = 64 * 1024;  // below, threads cost more than they bring
  if (args.batches * args.rows * args.cols * args.inner < kParallelMacs) return body(&call, 0, 1);
  run_workers(context, &call, body);
}

}  // namespace minitorch::kernels::portable
