// reduce: each output is a sequence of blocks, combined pairwise. Where the reduced elements lie side by side a block
// is read in vectors, where the kept ones do it takes rows of outputs at once.

constexpr std::int64_t kReduceParallel = 32 * 1024;
constexpr std::int64_t kReduceBlock = 4096;  // elements of one output: 64 partial sums of 64 elements
constexpr std::int64_t kReduceRows = 64;     // rows of many outputs
constexpr std::int64_t kReduceWidth = 64;    // outputs of such a row
constexpr int kReduceLevels = 64;
constexpr std::int64_t kReduceParts = 64;  // of one long output; they are the same for every number of threads

// An operation has combine(a, b) on elements, and block(x, count) on count > 0 contiguous ones.
struct SumOf {
  template <typename T>
  MT_INLINE static T combine(T a, T b) {
    return a + b;
  }
  static float block(const float* x, std::int64_t count) {
    F32x16 sums[4] = {zero(), zero(), zero(), zero()};
    std::int64_t c = 0;
    for (; c + 64 <= count; c += 64) {
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) sums[i] = add(sums[i], load(x + c + i * 16));
    }
    for (int i = 0; c < count; c += 16, ++i) sums[i] = add(sums[i], load_partial(x + c, smaller(16, count - c)));
    return sum_lanes(add(add(sums[0], sums[1]), add(sums[2], sums[3])));
  }
  static double block(const double* x, std::int64_t count) {
    double sums[8] = {};
    std::int64_t c = 0;
    for (; c + 8 <= count; c += 8) {
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) sums[i] += x[c + i];
    }
    for (int i = 0; c < count; ++c, ++i) sums[i] += x[c];
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
  }
};

// The largest or the smallest; a NaN wins.
template <bool kLargest>
struct ExtremeOf {
  using Functor = std::conditional_t<kLargest, functors::Maximum, functors::Minimum>;
  template <typename T>
  MT_INLINE static T combine(T a, T b) {
    return Functor::apply(a, b);
  }
  MT_INLINE static F32x16 better(F32x16 a, F32x16 b) { return kLargest ? max(a, b) : min(a, b); }
  static float block(const float* x, std::int64_t count) {
    const F32x16 worst = broadcast(kLargest ? -__builtin_inff() : __builtin_inff());
    F32x16 best[4] = {worst, worst, worst, worst};
    std::uint32_t nan = 0;
    std::int64_t c = 0;
    for (; c + 64 <= count; c += 64) {
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        const F32x16 value = load(x + c + i * 16);
        nan |= mask_nan(value);
        best[i] = better(value, best[i]);
      }
    }
    for (; c < count; c += 16) {
      const std::int64_t lanes = smaller(16, count - c);
      const F32x16 value = keep_first(load_partial(x + c, lanes), lanes, worst);
      nan |= mask_nan(value);
      best[0] = better(value, best[0]);
    }
    if (nan != 0) return __builtin_nanf("");
    const F32x16 all = better(better(best[0], best[1]), better(best[2], best[3]));
    return kLargest ? max_lane(all) : -max_lane(negative(all));
  }
  static double block(const double* x, std::int64_t count) {
    double best = x[0];
    for (std::int64_t c = 1; c < count; ++c) best = combine(best, x[c]);
    return best;
  }
};

// Values combined like the digits of a binary counter: each new one with its neighbours of equal rank (T is a number or
// a row of them).
template <typename Operation, typename T, std::int64_t kWidth>
class Cascade {
 public:
  // The place for the next value, kWidth elements; count it with push().
  MT_INLINE T* next() { return levels_[kReduceLevels]; }
  MT_INLINE void push() {
    int level = 0;
    for (std::int64_t rank = count_; (rank & 1) != 0; rank >>= 1) combine(levels_[level++], levels_[kReduceLevels]);
    __builtin_memcpy(levels_[level], levels_[kReduceLevels], sizeof(levels_[0]));
    ++count_;
  }
  // The combination of all values; there is at least one.
  MT_INLINE const T* result() {
    int level = __builtin_ctzll(static_cast<unsigned long long>(count_));
    T* all = levels_[kReduceLevels];
    __builtin_memcpy(all, levels_[level], sizeof(levels_[0]));
    for (++level; (count_ >> level) != 0; ++level) {
      if ((count_ >> level & 1) != 0) combine(levels_[level], all);
    }
    return all;
  }
  [[nodiscard]] MT_INLINE bool empty() const { return count_ == 0; }

 private:
  // b <- earlier combined with b
  MT_INLINE static void combine(const T* earlier, T* b) {
    for (std::int64_t i = 0; i < kWidth; ++i) b[i] = Operation::combine(earlier[i], b[i]);
  }

  std::int64_t count_ = 0;
  T levels_[kReduceLevels + 1][kWidth];  // the last one holds the newest value
};

// The two loops of a reduction over x; operand 0 of the kept one is the output.
struct ReduceLoops {
  StridedLoops kept;
  StridedLoops reduced;
};

// Blocks of one output: every line of the reduced loops in pieces.
MT_INLINE std::int64_t blocks_per_line(const ReduceLoops& loops) {
  return (loops.reduced.length + kReduceBlock - 1) / kReduceBlock;
}

// Blocks [begin, end) of one output whose elements begin at x; at least one.
template <typename Operation, typename T>
T reduce_blocks(const ReduceLoops& loops, const T* x, std::int64_t begin, std::int64_t end) {
  const std::int64_t per_line = blocks_per_line(loops);
  const std::int64_t step = loops.reduced.steps[0];
  Cascade<Operation, T, 1> all;
  T buffer[kReduceBlock];
  for (std::int64_t block = begin; block < end; ++block) {
    const std::int64_t first = block % per_line * kReduceBlock;
    const std::int64_t count = smaller(kReduceBlock, loops.reduced.length - first);
    const T* line = x + offset_of(loops.reduced, 0, block / per_line) + first * step;
    *all.next() = Operation::block(contiguous(line, step, count, buffer), count);
    all.push();
  }
  return *all.result();
}

// Where outputs are few and long, their parts go to different threads.
template <typename Operation, typename T>
void reduce_long(const Context& context, const ReduceLoops& loops, const T* x, T* out) {
  const std::int64_t blocks = loops.reduced.lines * blocks_per_line(loops);
  T parts[kReduceParts];
  split_range(context, true, kReduceParts, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      parts[i] = reduce_blocks<Operation>(loops, x, blocks * i / kReduceParts, blocks * (i + 1) / kReduceParts);
    }
  });
  Cascade<Operation, T, 1> all;
  for (const T part : parts) {
    *all.next() = part;
    all.push();
  }
  *out = *all.result();
}

template <typename Operation, typename T>
void reduce_lines(const Context& context, const ReduceLoops& loops, const T* x, T* out) {
  const StridedLoops& kept = loops.kept;
  const std::int64_t outputs = kept.lines * kept.length;
  const std::int64_t blocks = loops.reduced.lines * blocks_per_line(loops);
  const auto begin_of = [&](std::int64_t output) {
    return x + offset_of(kept, 1, output / kept.length) + output % kept.length * kept.steps[1];
  };
  if (outputs < 16 && blocks >= kReduceParts) {
    for (std::int64_t i = 0; i < outputs; ++i) reduce_long<Operation>(context, loops, begin_of(i), out + i);
    return;
  }
  const bool parallel = outputs * loops.reduced.lines * loops.reduced.length >= kReduceParallel;
  split_range(context, parallel, outputs, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) out[i] = reduce_blocks<Operation>(loops, begin_of(i), 0, blocks);
  });
}

// Combines `rows` rows of `width` <= kReduceWidth elements at x, `step` apart, into sums.
template <typename Operation, typename T>
MT_INLINE void reduce_rows(const T* x, std::int64_t step, std::int64_t rows, std::int64_t width, T* sums) {
  for (std::int64_t c = 0; c < width; ++c) sums[c] = x[c];
  for (std::int64_t r = 1; r < rows; ++r) {
    const T* row = x + r * step;
    for (std::int64_t c = 0; c < width; ++c) sums[c] = Operation::combine(sums[c], row[c]);
  }
}

// Outputs [first, first + width) of a line of the kept loops, whose elements begin at x.
template <typename Operation, typename T>
void reduce_tile(const StridedLoops& reduced, const T* x, std::int64_t width, T* out) {
  Cascade<Operation, T, kReduceWidth> all;
  for (std::int64_t c = 0; c < kReduceWidth; ++c) all.next()[c] = T(0);
  for (std::int64_t line = 0; line < reduced.lines; ++line) {
    const T* begin = x + offset_of(reduced, 0, line);
    for (std::int64_t row = 0; row < reduced.length; row += kReduceRows) {
      const std::int64_t rows = smaller(kReduceRows, reduced.length - row);
      const T* place = begin + row * reduced.steps[0];
      if (width == kReduceWidth) {
        reduce_rows<Operation>(place, reduced.steps[0], rows, kReduceWidth, all.next());
      } else {
        reduce_rows<Operation>(place, reduced.steps[0], rows, width, all.next());
      }
      all.push();
    }
  }
  const T* result = all.result();
  for (std::int64_t c = 0; c < width; ++c) out[c] = result[c];
}

template <typename Operation, typename T>
void reduce_columns(const Context& context, const ReduceLoops& loops, const T* x, T* out) {
  const StridedLoops& kept = loops.kept;
  const std::int64_t tiles = (kept.length + kReduceWidth - 1) / kReduceWidth;
  const bool parallel = kept.lines * kept.length * loops.reduced.lines * loops.reduced.length >= kReduceParallel;
  split_range(context, parallel, kept.lines * tiles, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t line = i / tiles;
      const std::int64_t first = i % tiles * kReduceWidth;
      reduce_tile<Operation>(loops.reduced, x + offset_of(kept, 1, line) + first,
                             smaller(kReduceWidth, kept.length - first), out + line * kept.length + first);
    }
  });
}

// The place of the best element among those of one output.
template <bool kLargest, typename T>
std::int64_t best_place(const StridedLoops& reduced, const T* x) {
  T best = *x;
  std::int64_t place = 0;
  for (std::int64_t line = 0; line < reduced.lines; ++line) {
    const T* begin = x + offset_of(reduced, 0, line);
    for (std::int64_t i = 0; i < reduced.length; ++i) {
      const T value = begin[i * reduced.steps[0]];
      const bool better = kLargest ? value > best : value < best;
      if (!better && !(value != value && best == best)) continue;
      best = value;
      place = line * reduced.length + i;
    }
  }
  return place;
}

template <bool kLargest, typename T>
void reduce_places(const Context& context, const ReduceLoops& loops, const T* x, std::int64_t* out) {
  const StridedLoops& kept = loops.kept;
  const std::int64_t outputs = kept.lines * kept.length;
  const bool parallel = outputs * loops.reduced.lines * loops.reduced.length >= kReduceParallel;
  split_range(context, parallel, outputs, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T* first = x + offset_of(kept, 1, i / kept.length) + i % kept.length * kept.steps[1];
      out[i] = best_place<kLargest>(loops.reduced, first);
    }
  });
}

template <typename Operation, typename T>
void reduce_values(const Context& context, const ReduceLoops& loops, const ReduceArgs& args) {
  const auto* x = static_cast<const T*>(args.x);
  auto* out = static_cast<T*>(args.out);
  if (loops.reduced.lines == 0) {  // sums only
    for (std::int64_t i = 0; i < loops.kept.lines * loops.kept.length; ++i) out[i] = T(0);
  } else if (loops.reduced.steps[0] != 1 && loops.kept.steps[1] == 1 && loops.kept.length > 1) {
    reduce_columns<Operation>(context, loops, x, out);
  } else {
    reduce_lines<Operation>(context, loops, x, out);
  }
}

template <typename T>
void reduce_typed(const Context& context, const ReduceLoops& loops, const ReduceArgs& args) {
  const auto* x = static_cast<const T*>(args.x);
  switch (args.op) {
    case ReduceOp::kSum: return reduce_values<SumOf, T>(context, loops, args);
    case ReduceOp::kMax: return reduce_values<ExtremeOf<true>, T>(context, loops, args);
    case ReduceOp::kMin: return reduce_values<ExtremeOf<false>, T>(context, loops, args);
    case ReduceOp::kArgmax: return reduce_places<true>(context, loops, x, static_cast<std::int64_t*>(args.out));
    case ReduceOp::kArgmin: return reduce_places<false>(context, loops, x, static_cast<std::int64_t*>(args.out));
  }
}

void reduce(const Context& context, const ReduceArgs& args) {
  std::int64_t out_strides[kMaxDims];
  std::int64_t outputs = 1;
  for (int dim = args.kept_dims - 1; dim >= 0; --dim) {
    out_strides[dim] = outputs;
    outputs *= args.shape[dim];
  }
  if (outputs == 0) return;
  const std::int64_t* kept[] = {out_strides, args.x_strides};
  const std::int64_t* reduced[] = {args.x_strides + args.kept_dims};
  const ReduceLoops loops{
      make_loops(args.kept_dims, args.shape, kept, 2, /*sort=*/false),
      make_loops(args.reduced_dims, args.shape + args.kept_dims, reduced, 1, /*sort=*/false),
  };
  args.dtype == DType::kF64 ? reduce_typed<double>(context, loops, args) : reduce_typed<float>(context, loops, args);
}
