// silu_mul: gate * sigmoid(gate) * up.

// With e = exp(-|gate|), which never overflows: gate / (1 + e), times e where gate is negative.
MT_INLINE F32x16 silu_mul_of(F32x16 gate, F32x16 up) {
  const F32x16 one = broadcast(1.0f);
  const F32x16 e = exp(min(gate, sub(zero(), gate)));
  const F32x16 sigmoid = div(select_negative(gate, e, one), add(one, e));
  return mul(mul(gate, sigmoid), up);
}

void silu_mul_part(const float* gate, const float* up, float* out, std::int64_t count) {
  std::int64_t c = 0;
  for (; c + 16 <= count; c += 16) store(out + c, silu_mul_of(load(gate + c), load(up + c)));
  const std::int64_t rest = count - c;
  if (rest > 0) store_partial(out + c, silu_mul_of(load_partial(gate + c, rest), load_partial(up + c, rest)), rest);
}

void silu_mul(const Context& context, const SiluMulArgs& args) {
  constexpr std::int64_t kParallelElements = 16 * 1024;
  constexpr std::int64_t kChunk = 1024;  // columns; parts of a row can go to different threads
  const std::int64_t chunks = (args.cols + kChunk - 1) / kChunk;
  const bool parallel = args.rows * args.cols >= kParallelElements;
  split_range(context, parallel, args.rows * chunks, [&args, chunks](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t m = i / chunks;
      const std::int64_t first = i % chunks * kChunk;
      silu_mul_part(args.gate + m * args.gate_stride + first, args.up + m * args.up_stride + first,
                    args.out + m * args.out_stride + first, smaller(kChunk, args.cols - first));
    }
  });
}
