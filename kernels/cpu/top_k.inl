// top_k: a heap of the k best so far, kept in the output arrays, with the worst of them on top. Sixteen elements are
// compared with that one at a time; nearly all fall through.

struct Candidate {
  float value;
  std::int32_t index;
};

// a comes before b in the result: larger value, then lower index; NaN behind all numbers.
MT_INLINE bool comes_before(Candidate a, Candidate b) {
  const bool a_nan = a.value != a.value;
  const bool b_nan = b.value != b.value;
  if (a_nan != b_nan) return b_nan;
  if (a.value > b.value || a.value < b.value) return a.value > b.value;
  return a.index < b.index;
}

struct Heap {
  float* values;
  std::int32_t* indices;

  Candidate at(std::int64_t i) const { return {values[i], indices[i]}; }
  void set(std::int64_t i, Candidate candidate) const {
    values[i] = candidate.value;
    indices[i] = candidate.index;
  }
  // Puts `candidate` at place i of a heap of `size` and lets it sink below those that come after it.
  void sink(std::int64_t i, std::int64_t size, Candidate candidate) const {
    while (true) {
      std::int64_t child = 2 * i + 1;
      if (child >= size) break;
      if (child + 1 < size && comes_before(at(child), at(child + 1))) ++child;
      if (!comes_before(candidate, at(child))) break;
      set(i, at(child));
      i = child;
    }
    set(i, candidate);
  }
};

void top_k_row(const float* x, std::int64_t count, std::int64_t k, const Heap& heap) {
  for (std::int64_t i = 0; i < k; ++i) heap.set(i, {x[i], static_cast<std::int32_t>(i)});
  for (std::int64_t i = k / 2 - 1; i >= 0; --i) heap.sink(i, k, heap.at(i));
  const auto offer = [&](std::int64_t i) {
    const Candidate candidate{x[i], static_cast<std::int32_t>(i)};
    if (comes_before(candidate, heap.at(0))) heap.sink(0, k, candidate);
  };
  std::int64_t c = k;
  for (; c + 16 <= count; c += 16) {
    // "Not less or equal" also lets NaNs pass, and everything while the heap's worst is one.
    std::uint32_t mask = mask_not_less_equal(load(x + c), broadcast(heap.values[0]));
    for (; mask != 0; mask &= mask - 1) offer(c + __builtin_ctz(mask));
  }
  for (; c < count; ++c) offer(c);
  for (std::int64_t size = k - 1; size > 0; --size) {  // the worst goes to the end, again and again
    const Candidate worst = heap.at(0);
    heap.sink(0, size, heap.at(size));
    heap.set(size, worst);
  }
}

void top_k(const Context& context, const TopKArgs& args) {
  constexpr std::int64_t kParallelElements = 64 * 1024;
  split_range(context, args.rows * args.cols >= kParallelElements, args.rows,
              [&args](std::int64_t begin, std::int64_t end) {
                for (std::int64_t m = begin; m < end; ++m) {
                  top_k_row(args.x + m * args.x_stride, args.cols, args.k,
                            {args.values + m * args.k, args.indices + m * args.k});
                }
              });
}
