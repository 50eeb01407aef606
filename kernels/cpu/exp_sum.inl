// The maximum of a row and the sum of its exponentials, for softmax and cross_entropy.

// The largest of x[0, count), -inf for none; NaNs are passed over.
MT_INLINE float max_of(const float* x, std::int64_t count) {
  const F32x16 lowest = broadcast(-__builtin_inff());
  F32x16 best[2] = {lowest, lowest};
  std::int64_t c = 0;
  for (; c + 32 <= count; c += 32) {
    best[0] = max(load(x + c), best[0]);
    best[1] = max(load(x + c + 16), best[1]);
  }
  for (; c < count; c += 16) {
    const std::int64_t lanes = smaller(16, count - c);
    best[0] = max(keep_first(load_partial(x + c, lanes), lanes, lowest), best[0]);
  }
  return max_lane(max(best[0], best[1]));
}

// The sum of exp(x - shift) over x[0, count), where y is given also stored there. A NaN and +inf give NaN when `shift`
// is the maximum, as do rows of -inf.
// Meanwhile the row at `next` comes into the cache.
MT_INLINE float exp_and_sum(const float* x, float* y, std::int64_t count, float shift, const float* next) {
  const F32x16 down = broadcast(shift);
  F32x16 sum = zero();
  std::int64_t c = 0;
  for (; c + 16 <= count; c += 16) {
    prefetch(next + c);
    const F32x16 power = exp(sub(load(x + c), down));
    if (y != nullptr) store(y + c, power);
    sum = add(sum, power);
  }
  if (const std::int64_t rest = count - c; rest > 0) {
    const F32x16 power = keep_first(exp(sub(load_partial(x + c, rest), down)), rest, zero());
    if (y != nullptr) store_partial(y + c, power, rest);
    sum = add(sum, power);
  }
  return sum_lanes(sum);
}
