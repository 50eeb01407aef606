// layer_norm, and the backward of rms_norm and layer_norm, which differ by the mean only.

void layer_norm_row(const LayerNormArgs& args, std::int64_t m) {
  const float* x = args.x + m * args.x_stride;
  float* y = args.y + m * args.y_stride;
  const auto count = static_cast<float>(args.cols);
  F32x16 sums = zero();
  for_lanes(args.cols,
            [&](std::int64_t c, std::int64_t lanes) MT_LANES { sums = add(sums, load_lanes(x + c, lanes)); });
  const float mean = sum_lanes(sums) / count;
  const F32x16 down = broadcast(mean);
  F32x16 squares = zero();
  for_lanes(args.cols, [&](std::int64_t c, std::int64_t lanes) MT_LANES {
    const F32x16 centred = keep_first(sub(load_lanes(x + c, lanes), down), lanes, zero());
    squares = fma(centred, centred, squares);
  });
  const float inverse = 1.0f / __builtin_sqrtf(sum_lanes(squares) / count + args.eps);
  const F32x16 scale = broadcast(inverse);
  for_lanes(args.cols, [&](std::int64_t c, std::int64_t lanes) MT_LANES {
    const F32x16 normal = mul(sub(load_lanes(x + c, lanes), down), scale);
    const F32x16 bias = args.bias != nullptr ? load_lanes(args.bias + c, lanes) : zero();
    store_lanes(y + c, fma(normal, load_lanes(args.weight + c, lanes), bias), lanes);
  });
  if (args.mean != nullptr) args.mean[m] = mean;
  if (args.inverse_deviation != nullptr) args.inverse_deviation[m] = inverse;
}

void layer_norm(const Context& context, const LayerNormArgs& args) {
  split_range(context, args.rows * args.cols >= kRowsParallel, args.rows,
              [&args](std::int64_t begin, std::int64_t end) {
                for (std::int64_t m = begin; m < end; ++m) layer_norm_row(args, m);
              });
}

// With n = (x - mean) * inverse and g = dy * weight: dx = inverse * (g - shift - n * share), where shift = mean(g) and
// share = mean(g n); rms_norm has mean and shift 0.
struct NormRow {
  float mean, inverse, shift, share;
};

NormRow rms_norm_statistics(const RmsNormBackwardArgs& args, std::int64_t m) {
  const float* x = args.x + m * args.x_stride;
  const float* dy = args.dy + m * args.dy_stride;
  F32x16 squares = zero();
  F32x16 products = zero();
  for_lanes(args.cols, [&](std::int64_t c, std::int64_t lanes) MT_LANES {
    const F32x16 value = load_lanes(x + c, lanes);
    squares = fma(value, value, squares);
    products = fma(mul(load_lanes(dy + c, lanes), load_lanes(args.weight + c, lanes)), value, products);
  });
  const auto count = static_cast<float>(args.cols);
  const float inverse = 1.0f / __builtin_sqrtf(sum_lanes(squares) / count + args.eps);
  return {0.0f, inverse, 0.0f, sum_lanes(products) * inverse / count};
}

NormRow layer_norm_statistics(const LayerNormBackwardArgs& args, std::int64_t m) {
  const float* x = args.x + m * args.x_stride;
  const float* dy = args.dy + m * args.dy_stride;
  const F32x16 mean = broadcast(args.mean[m]);
  const F32x16 inverse = broadcast(args.inverse_deviation[m]);
  F32x16 sums = zero();
  F32x16 products = zero();
  for_lanes(args.cols, [&](std::int64_t c, std::int64_t lanes) MT_LANES {  // lanes past the end have g = 0
    const F32x16 g = mul(load_lanes(dy + c, lanes), load_lanes(args.weight + c, lanes));
    sums = add(sums, g);
    products = fma(g, mul(sub(load_lanes(x + c, lanes), mean), inverse), products);
  });
  const auto count = static_cast<float>(args.cols);
  return {args.mean[m], args.inverse_deviation[m], sum_lanes(sums) / count, sum_lanes(products) / count};
}

// dx of rows [begin, end) in columns [column, column + lanes), and the rows' sums for dweight and dbias, which are
// written for the first block and else added to.
template <typename Args>
MT_INLINE void norm_backward_tile(const Args& args, float* dbias, const NormRow* rows, std::int64_t begin,
                                  std::int64_t end, std::int64_t column, std::int64_t lanes) {
  const F32x16 weight = load_lanes(args.weight + column, lanes);
  F32x16 dweights = zero();
  F32x16 dbiases = zero();
  for (std::int64_t m = begin; m < end; ++m) {
    const NormRow& row = rows[m - begin];
    const F32x16 dy = load_lanes(args.dy + m * args.dy_stride + column, lanes);
    const F32x16 x = load_lanes(args.x + m * args.x_stride + column, lanes);
    const F32x16 inverse = broadcast(row.inverse);
    const F32x16 normal = mul(sub(x, broadcast(row.mean)), inverse);
    dweights = fma(dy, normal, dweights);
    dbiases = add(dbiases, dy);
    if (args.dx == nullptr) continue;
    const F32x16 g = sub(mul(dy, weight), broadcast(row.shift));
    const F32x16 dx = mul(sub(g, mul(normal, broadcast(row.share))), inverse);
    store_lanes(args.dx + m * args.dx_stride + column, dx, lanes);
  }
  const auto add_to = [&](float* sums, F32x16 more) {
    if (sums == nullptr) return;
    if (begin > 0) more = add(load_lanes(sums + column, lanes), more);
    store_lanes(sums + column, more, lanes);
  };
  add_to(args.dweight, dweights);
  add_to(dbias, dbiases);
}

// Chunks of rows go through the cache twice: first each thread takes rows, for their statistics, then columns, so that
// the sums over the rows have one order whatever the threads.
template <typename Args, typename Statistics>
void norm_backward(const Context& context, const Args& args, float* dbias, const Statistics& statistics_of) {
  constexpr std::int64_t kBlock = 64;
  constexpr std::int64_t kChunk = 8 * kBlock;
  const std::int64_t tiles = (args.cols + 15) / 16;
  const bool parallel = args.rows * args.cols >= kRowsParallel;
  if (args.rows == 0) {
    for (std::int64_t c = 0; c < args.cols; ++c) {
      if (args.dweight != nullptr) args.dweight[c] = 0.0f;
      if (dbias != nullptr) dbias[c] = 0.0f;
    }
  }
  NormRow rows[kChunk];
  for (std::int64_t first = 0; first < args.rows; first += kChunk) {
    const std::int64_t count = smaller(kChunk, args.rows - first);
    split_range(context, parallel, count, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) rows[i] = statistics_of(args, first + i);
    });
    split_range(context, parallel, tiles, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t block = 0; block < count; block += kBlock) {
        const std::int64_t last = first + smaller(block + kBlock, count);
        for (std::int64_t tile = begin; tile < end; ++tile) {
          const std::int64_t lanes = smaller(16, args.cols - tile * 16);
          norm_backward_tile(args, dbias, rows + block, first + block, last, tile * 16, lanes);
        }
      }
    });
  }
}

void rms_norm_backward(const Context& context, const RmsNormBackwardArgs& args) {
  norm_backward(context, args, nullptr, rms_norm_statistics);
}

void layer_norm_backward(const Context& context, const LayerNormBackwardArgs& args) {
  norm_backward(context, args, args.dbias, layer_norm_statistics);
}
