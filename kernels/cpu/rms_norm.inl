// rms_norm: sixteen partial sums of squares, one per lane.

void rms_norm_row(const RmsNormArgs& args, std::int64_t m) {
  const float* x = args.x + m * args.x_stride;
  float* y = args.y + m * args.y_stride;
  const std::int64_t whole = args.cols / 16 * 16;
  const std::int64_t rest = args.cols - whole;
  F32x16 squares = zero();
  for (std::int64_t c = 0; c < whole; c += 16) {
    const F32x16 value = load(x + c);
    squares = fma(value, value, squares);
  }
  const F32x16 last = load_partial(x + whole, rest);
  squares = fma(last, last, squares);
  const float mean = sum_lanes(squares) / static_cast<float>(args.cols);
  const F32x16 inverse = broadcast(1.0f / __builtin_sqrtf(mean + args.eps));
  for (std::int64_t c = 0; c < whole; c += 16) store(y + c, mul(mul(load(x + c), inverse), load(args.weight + c)));
  store_partial(y + whole, mul(mul(last, inverse), load_partial(args.weight + whole, rest)), rest);
}

void rms_norm(const Context& context, const RmsNormArgs& args) {
  constexpr std::int64_t kParallelElements = 32 * 1024;
  split_range(context, args.rows * args.cols >= kParallelElements, args.rows,
              [&args](std::int64_t begin, std::int64_t end) {
                for (std::int64_t m = begin; m < end; ++m) rms_norm_row(args, m);
              });
}
