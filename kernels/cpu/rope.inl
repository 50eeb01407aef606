// rope: rotation of the two halves of every head. No multiply-add, so that all tables agree bit for bit.

MT_INLINE void rotate(F32x16& low, F32x16& high, F32x16 cos, F32x16 sin) {
  const F32x16 first = sub(mul(low, cos), mul(high, sin));
  high = add(mul(high, cos), mul(low, sin));
  low = first;
}

void rope_row(const RopeArgs& args, std::int64_t m) {
  const std::int64_t half = args.head_dim / 2;
  const std::int64_t whole = half / 16 * 16;
  const std::int64_t rest = half - whole;
  const float* cos = args.cos + m * half;
  const float* sin = args.sin + m * half;
  for (std::int64_t h = 0; h < args.heads; ++h) {
    float* x = args.x + m * args.x_stride + h * args.head_dim;
    for (std::int64_t d = 0; d < whole; d += 16) {
      F32x16 low = load(x + d);
      F32x16 high = load(x + half + d);
      rotate(low, high, load(cos + d), load(sin + d));
      store(x + d, low);
      store(x + half + d, high);
    }
    F32x16 low = load_partial(x + whole, rest);
    F32x16 high = load_partial(x + half + whole, rest);
    rotate(low, high, load_partial(cos + whole, rest), load_partial(sin + whole, rest));
    store_partial(x + whole, low, rest);
    store_partial(x + half + whole, high, rest);
  }
}

void rope(const Context& context, const RopeArgs& args) {
  constexpr std::int64_t kParallelElements = 32 * 1024;
  const bool parallel = args.rows * args.heads * args.head_dim >= kParallelElements;
  split_range(context, parallel, args.rows, [&args](std::int64_t begin, std::int64_t end) {
    for (std::int64_t m = begin; m < end; ++m) rope_row(args, m);
  });
}
