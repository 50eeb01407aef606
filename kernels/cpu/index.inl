// index_rows, add_rows, gather and scatter_add. Sums are split between threads by the columns they go to, so that each
// has its terms in the order of the contract.

constexpr std::int64_t kIndexParallel = 32 * 1024;

template <typename T>
void index_rows_typed(const Context& context, const IndexRowsArgs& args) {
  split_range(context, args.rows * args.cols >= kIndexParallel, args.rows, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t m = begin; m < end; ++m) {
      const T* row = static_cast<const T*>(args.table) + args.ids[m] * args.table_stride;
      T* out = static_cast<T*>(args.out) + m * args.out_stride;
      __builtin_memcpy(out, row, static_cast<std::size_t>(args.cols) * sizeof(T));
    }
  });
}

void index_rows(const Context& context, const IndexRowsArgs& args) {
  args.dtype == DType::kF64 ? index_rows_typed<double>(context, args) : index_rows_typed<float>(context, args);
}

template <typename T>
void add_rows_typed(const Context& context, const AddRowsArgs& args) {
  constexpr std::int64_t kGroup = 16;  // columns that stay together
  const std::int64_t groups = (args.cols + kGroup - 1) / kGroup;
  split_range(context, args.rows * args.cols >= kIndexParallel, groups, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t first = begin * kGroup;
    const std::int64_t count = smaller(end * kGroup, args.cols) - first;
    for (std::int64_t m = 0; m < args.rows; ++m) {
      T* row = static_cast<T*>(args.table) + args.ids[m] * args.table_stride + first;
      const T* x = static_cast<const T*>(args.x) + m * args.x_stride + first;
      MT_INDEPENDENT
      for (std::int64_t c = 0; c < count; ++c) row[c] += x[c];
    }
  });
}

void add_rows(const Context& context, const AddRowsArgs& args) {
  args.dtype == DType::kF64 ? add_rows_typed<double>(context, args) : add_rows_typed<float>(context, args);
}

// Calls visit(place in [outer, picks, inner], place in [outer, extent, inner]) for all indices. Picks ascend; threads
// take different outer or inner ones.
template <typename Args, typename Visit>
void for_each_pick(const Context& context, const Args& args, const Visit& visit) {
  const bool by_outer = args.outer >= args.inner;
  const bool parallel = args.outer * args.picks * args.inner >= kIndexParallel;
  split_range(context, parallel, by_outer ? args.outer : args.inner, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t outer_begin = by_outer ? begin : 0;
    const std::int64_t outer_end = by_outer ? end : args.outer;
    const std::int64_t inner_begin = by_outer ? 0 : begin;
    const std::int64_t inner_end = by_outer ? args.inner : end;
    for (std::int64_t o = outer_begin; o < outer_end; ++o) {
      for (std::int64_t p = 0; p < args.picks; ++p) {
        for (std::int64_t i = inner_begin; i < inner_end; ++i) {
          const std::int64_t pick = (o * args.picks + p) * args.inner + i;
          visit(pick, (o * args.extent + args.index[pick]) * args.inner + i);
        }
      }
    }
  });
}

template <typename T>
void gather_typed(const Context& context, const GatherArgs& args) {
  const auto* x = static_cast<const T*>(args.x);
  auto* out = static_cast<T*>(args.out);
  for_each_pick(context, args, [=](std::int64_t pick, std::int64_t place) { out[pick] = x[place]; });
}

void gather(const Context& context, const GatherArgs& args) {
  args.dtype == DType::kF64 ? gather_typed<double>(context, args) : gather_typed<float>(context, args);
}

template <typename T>
void scatter_add_typed(const Context& context, const ScatterAddArgs& args) {
  const auto* x = static_cast<const T*>(args.x);
  auto* target = static_cast<T*>(args.target);
  for_each_pick(context, args, [=](std::int64_t pick, std::int64_t place) { target[place] += x[pick]; });
}

void scatter_add(const Context& context, const ScatterAddArgs& args) {
  args.dtype == DType::kF64 ? scatter_add_typed<double>(context, args) : scatter_add_typed<float>(context, args);
}
