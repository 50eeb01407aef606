// silu_mul: gate * sigmoid(gate) * up, and its backward.

MT_INLINE F32x16 silu_mul_of(F32x16 gate, F32x16 up) { return mul(mul(gate, sigmoid(gate)), up); }

void silu_mul_part(const float* gate, const float* up, float* out, std::int64_t count) {
  std::int64_t c = 0;
  for (; c + 16 <= count; c += 16) store(out + c, silu_mul_of(load(gate + c), load(up + c)));
  const std::int64_t rest = count - c;
  if (rest > 0) store_partial(out + c, silu_mul_of(load_partial(gate + c, rest), load_partial(up + c, rest)), rest);
}

// Calls body(row, first column, columns) for parts of all rows; parts of a row can go to different threads.
template <typename Body>
void for_row_chunks(const Context& context, std::int64_t rows, std::int64_t cols, const Body& body) {
  constexpr std::int64_t kParallelElements = 16 * 1024;
  constexpr std::int64_t kChunk = 1024;
  const std::int64_t chunks = (cols + kChunk - 1) / kChunk;
  split_range(context, rows * cols >= kParallelElements, rows * chunks, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i % chunks * kChunk;
      body(i / chunks, first, smaller(kChunk, cols - first));
    }
  });
}

void silu_mul(const Context& context, const SiluMulArgs& args) {
  for_row_chunks(context, args.rows, args.cols, [&args](std::int64_t m, std::int64_t first, std::int64_t count) {
    silu_mul_part(args.gate + m * args.gate_stride + first, args.up + m * args.up_stride + first,
                  args.out + m * args.out_stride + first, count);
  });
}

// With e = exp(-|gate|), s and 1 - s are 1 / (1 + e) and e / (1 + e), in one order or the other: nothing cancels.
void silu_mul_backward_part(const SiluMulBackwardArgs& args, std::int64_t m, std::int64_t first, std::int64_t count) {
  const float* gates = args.gate + m * args.gate_stride + first;
  const float* ups = args.up + m * args.up_stride + first;
  const float* douts = args.dout + m * args.dout_stride + first;
  float* dgate = args.dgate + m * args.dgate_stride + first;
  float* dup = args.dup + m * args.dup_stride + first;
  for_lanes(count, [&](std::int64_t c, std::int64_t lanes) MT_LANES {
    const F32x16 gate = load_lanes(gates + c, lanes);
    const F32x16 up = load_lanes(ups + c, lanes);
    const F32x16 dout = load_lanes(douts + c, lanes);
    const F32x16 one = broadcast(1.0f);
    const F32x16 e = exp(min(gate, sub(zero(), gate)));
    const F32x16 larger_part = div(one, add(one, e));
    const F32x16 smaller_part = mul(e, larger_part);
    const F32x16 s = select_negative(gate, smaller_part, larger_part);
    const F32x16 rest = select_negative(gate, larger_part, smaller_part);
    const F32x16 slope = mul(s, fma(gate, rest, one));
    store_lanes(dgate + c, mul(mul(dout, up), slope), lanes);
    store_lanes(dup + c, mul(dout, mul(gate, s)), lanes);
  });
}

void silu_mul_backward(const Context& context, const SiluMulBackwardArgs& args) {
  for_row_chunks(context, args.rows, args.cols, [&args](std::int64_t m, std::int64_t first, std::int64_t count) {
    silu_mul_backward_part(args, m, first, count);
  });
}
