// map, zip and where: strided lines go through buffers in the first-level cache, so that every function needs one loop
// over contiguous elements.

constexpr std::int64_t kPointwiseChunk = 16 * 1024;  // elements of a line that one thread takes at a time
constexpr std::int64_t kPointwiseBlock = 512;        // elements of a line that pass through a buffer
constexpr std::int64_t kPointwiseParallel = 32 * 1024;

// Calls body(line, begin, end) for all parts of all lines, on all threads when there is enough to do.
template <typename Body>
void for_line_parts(const Context& context, const StridedLoops& loops, const Body& body) {
  const std::int64_t chunks = (loops.length + kPointwiseChunk - 1) / kPointwiseChunk;
  const bool parallel = loops.lines * loops.length >= kPointwiseParallel;
  split_range(context, parallel, loops.lines * chunks, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i % chunks * kPointwiseChunk;
      const std::int64_t last = smaller(first + kPointwiseChunk, loops.length);
      for (std::int64_t at = first; at < last; at += kPointwiseBlock) {
        body(i / chunks, at, smaller(at + kPointwiseBlock, last));
      }
    }
  });
}

template <typename Functor, typename T>
void map_block(const T* x, T* out, std::int64_t count) {
  if constexpr (sizeof(T) == sizeof(float) && HasVectorForm<Functor>) {
    std::int64_t i = 0;
    for (; i + 16 <= count; i += 16) store(out + i, vector_form(Functor{}, load(x + i)));
    const std::int64_t rest = count - i;
    if (rest > 0) store_partial(out + i, vector_form(Functor{}, load_partial(x + i, rest)), rest);
  } else {
    MT_INDEPENDENT
    for (std::int64_t i = 0; i < count; ++i) out[i] = Functor::apply(x[i]);
  }
}

template <typename T>
void map_typed(const Context& context, const MapArgs& args) {
  const std::int64_t* strides[] = {args.out_strides, args.x_strides};
  const StridedLoops loops = make_loops(args.dims, args.shape, strides, 2, /*sort=*/true);
  const auto block = functors::with_functor(args.op, [](auto functor) { return &map_block<decltype(functor), T>; });
  for_line_parts(context, loops, [&](std::int64_t line, std::int64_t begin, std::int64_t end) {
    T results[kPointwiseBlock];
    T* out = static_cast<T*>(args.out) + offset_of(loops, 0, line) + begin * loops.steps[0];
    const T* x = static_cast<const T*>(args.x) + offset_of(loops, 1, line) + begin * loops.steps[1];
    T* target = loops.steps[0] == 1 ? out : results;
    block(contiguous(x, loops.steps[1], end - begin, results), target, end - begin);
    if (target != out) spread(results, end - begin, out, loops.steps[0]);
  });
}

void map(const Context& context, const MapArgs& args) {
  args.dtype == DType::kF64 ? map_typed<double>(context, args) : map_typed<float>(context, args);
}

template <typename Functor, typename T>
void zip_block(const T* a, const T* b, void* out, std::int64_t count) {
  auto* results = static_cast<functors::ResultOf<Functor, T>*>(out);
  MT_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) results[i] = Functor::apply(a[i], b[i]);
}

// Results of type Out, which is T, or bool for comparisons.
template <typename T, typename Out>
void zip_typed(const Context& context, const ZipArgs& args, void (*block)(const T*, const T*, void*, std::int64_t)) {
  const std::int64_t* strides[] = {args.out_strides, args.a_strides, args.b_strides};
  const StridedLoops loops = make_loops(args.dims, args.shape, strides, 3, /*sort=*/true);
  for_line_parts(context, loops, [&](std::int64_t line, std::int64_t begin, std::int64_t end) {
    T left[kPointwiseBlock];
    T right[kPointwiseBlock];
    Out results[kPointwiseBlock];
    const std::int64_t count = end - begin;
    Out* out = static_cast<Out*>(args.out) + offset_of(loops, 0, line) + begin * loops.steps[0];
    const T* a = static_cast<const T*>(args.a) + offset_of(loops, 1, line) + begin * loops.steps[1];
    const T* b = static_cast<const T*>(args.b) + offset_of(loops, 2, line) + begin * loops.steps[2];
    Out* target = loops.steps[0] == 1 ? out : results;
    block(contiguous(a, loops.steps[1], count, left), contiguous(b, loops.steps[2], count, right), target, count);
    if (target != out) spread(results, count, out, loops.steps[0]);
  });
}

template <typename T>
void zip_by_result(const Context& context, const ZipArgs& args) {
  functors::with_functor(args.op, [&](auto functor) {
    using Functor = decltype(functor);
    zip_typed<T, functors::ResultOf<Functor, T>>(context, args, &zip_block<Functor, T>);
  });
}

void zip(const Context& context, const ZipArgs& args) {
  args.dtype == DType::kF64 ? zip_by_result<double>(context, args) : zip_by_result<float>(context, args);
}

template <typename T>
void where_typed(const Context& context, const WhereArgs& args) {
  const std::int64_t* strides[] = {args.out_strides, args.condition_strides, args.a_strides, args.b_strides};
  const StridedLoops loops = make_loops(args.dims, args.shape, strides, 4, /*sort=*/true);
  for_line_parts(context, loops, [&](std::int64_t line, std::int64_t begin, std::int64_t end) {
    bool choices[kPointwiseBlock];
    T left[kPointwiseBlock];
    T right[kPointwiseBlock];
    T results[kPointwiseBlock];
    const std::int64_t count = end - begin;
    T* out = static_cast<T*>(args.out) + offset_of(loops, 0, line) + begin * loops.steps[0];
    const bool* choice = args.condition + offset_of(loops, 1, line) + begin * loops.steps[1];
    const T* a = static_cast<const T*>(args.a) + offset_of(loops, 2, line) + begin * loops.steps[2];
    const T* b = static_cast<const T*>(args.b) + offset_of(loops, 3, line) + begin * loops.steps[3];
    choice = contiguous(choice, loops.steps[1], count, choices);
    a = contiguous(a, loops.steps[2], count, left);
    b = contiguous(b, loops.steps[3], count, right);
    T* target = loops.steps[0] == 1 ? out : results;
    MT_INDEPENDENT
    for (std::int64_t i = 0; i < count; ++i) target[i] = choice[i] ? a[i] : b[i];
    if (target != out) spread(results, count, out, loops.steps[0]);
  });
}

void where(const Context& context, const WhereArgs& args) {
  args.dtype == DType::kF64 ? where_typed<double>(context, args) : where_typed<float>(context, args);
}
