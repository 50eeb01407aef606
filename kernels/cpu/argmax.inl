// argmax: one pass for the maximum and for NaNs, a second one for its first place.

// The largest of x[0, count), or a NaN if it holds one.
float max_or_nan(const float* x, std::int64_t count) {
  const F32x16 lowest = broadcast(-__builtin_inff());
  F32x16 best[4] = {lowest, lowest, lowest, lowest};
  std::uint32_t nan = 0;
  std::int64_t c = 0;
  for (; c + 64 <= count; c += 64) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const F32x16 value = load(x + c + i * 16);
      nan |= mask_nan(value);
      best[i] = max(value, best[i]);
    }
  }
  for (; c < count; c += 16) {
    const std::int64_t lanes = smaller(16, count - c);
    const F32x16 value = keep_first(load_partial(x + c, lanes), lanes, lowest);
    nan |= mask_nan(value);
    best[0] = max(value, best[0]);
  }
  if (nan != 0) return __builtin_nanf("");
  return max_lane(max(max(best[0], best[1]), max(best[2], best[3])));
}

// The first place of `value` in x[0, count), or `count`.
std::int64_t first_equal(const float* x, std::int64_t count, float value) {
  const F32x16 wanted = broadcast(value);
  std::int64_t c = 0;
  for (; c + 16 <= count; c += 16) {
    if (const std::uint32_t mask = mask_equal(load(x + c), wanted); mask != 0) return c + __builtin_ctz(mask);
  }
  while (c < count && !(x[c] == value)) ++c;
  return c;
}

std::int32_t argmax_row(const float* x, std::int64_t count) {
  const float best = max_or_nan(x, count);
  const std::int64_t place = first_equal(x, count, best);  // nothing equals a NaN
  return place < count ? static_cast<std::int32_t>(place) : -1;
}

void argmax(const Context& context, const ArgmaxArgs& args) {
  static_assert(kArgmaxNan == -1);
  constexpr std::int64_t kParallelElements = 64 * 1024;
  split_range(context, args.rows * args.cols >= kParallelElements, args.rows,
              [&args](std::int64_t begin, std::int64_t end) {
                for (std::int64_t m = begin; m < end; ++m)
                  args.out[m] = argmax_row(args.x + m * args.x_stride, args.cols);
              });
}
