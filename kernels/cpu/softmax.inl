// softmax and log_softmax with their backward: rows stay in the first-level cache between passes.

void softmax_row(const float* x, float* y, std::int64_t count, bool log, const float* next) {
  const float most = max_of(x, count);
  const float sum = exp_and_sum(x, log ? nullptr : y, count, most, next);
  if (log) {
    const F32x16 down = broadcast(most);
    const F32x16 log_sum = broadcast(__builtin_logf(sum));
    for_lanes(count, [&](std::int64_t c, std::int64_t lanes)
                         MT_LANES { store_lanes(y + c, sub(sub(load_lanes(x + c, lanes), down), log_sum), lanes); });
  } else {
    const F32x16 scale = broadcast(1.0f / sum);
    for_lanes(count, [&](std::int64_t c, std::int64_t lanes)
                         MT_LANES { store_lanes(y + c, mul(load_lanes(y + c, lanes), scale), lanes); });
  }
}

void softmax(const Context& context, const SoftmaxArgs& args) {
  split_range(context, args.rows * args.cols >= kRowsParallel, args.rows,
              [&args](std::int64_t begin, std::int64_t end) {
                for (std::int64_t m = begin; m < end; ++m) {
                  const float* x = args.x + m * args.x_stride;
                  softmax_row(x, args.y + m * args.y_stride, args.cols, args.log, x + args.x_stride);
                }
              });
}

void softmax_backward_row(const float* y, const float* dy, float* dx, std::int64_t count) {
  F32x16 products = zero();
  for_lanes(count, [&](std::int64_t c, std::int64_t lanes)
                       MT_LANES { products = fma(load_lanes(y + c, lanes), load_lanes(dy + c, lanes), products); });
  const F32x16 sum = broadcast(sum_lanes(products));
  for_lanes(count, [&](std::int64_t c, std::int64_t lanes) MT_LANES {
    store_lanes(dx + c, mul(load_lanes(y + c, lanes), sub(load_lanes(dy + c, lanes), sum)), lanes);
  });
}

void log_softmax_backward_row(const float* y, const float* dy, float* dx, std::int64_t count) {
  F32x16 sums = zero();
  for_lanes(count, [&](std::int64_t c, std::int64_t lanes) MT_LANES { sums = add(sums, load_lanes(dy + c, lanes)); });
  const F32x16 down = broadcast(-sum_lanes(sums));
  for_lanes(count, [&](std::int64_t c, std::int64_t lanes) MT_LANES {
    store_lanes(dx + c, fma(exp(load_lanes(y + c, lanes)), down, load_lanes(dy + c, lanes)), lanes);
  });
}

void softmax_backward(const Context& context, const SoftmaxBackwardArgs& args) {
  const auto row = args.log ? &log_softmax_backward_row : &softmax_backward_row;
  split_range(
      context, args.rows * args.cols >= kRowsParallel, args.rows, [&args, row](std::int64_t begin, std::int64_t end) {
        for (std::int64_t m = begin; m < end; ++m) {
          row(args.y + m * args.y_stride, args.dy + m * args.dy_stride, args.dx + m * args.dx_stride, args.cols);
        }
      });
}
