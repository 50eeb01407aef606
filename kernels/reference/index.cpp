// Reference index_rows, add_rows, gather and scatter_add: element by element.
#include "kernels/reference/reference.h"

namespace minitorch::kernels::reference {
namespace {

template <typename T>
void index_rows_typed(const IndexRowsArgs& args) {
  for (std::int64_t m = 0; m < args.rows; ++m) {
    const T* row = static_cast<const T*>(args.table) + args.ids[m] * args.table_stride;
    T* out = static_cast<T*>(args.out) + m * args.out_stride;
    for (std::int64_t c = 0; c < args.cols; ++c) out[c] = row[c];
  }
}

template <typename T>
void add_rows_typed(const AddRowsArgs& args) {
  for (std::int64_t m = 0; m < args.rows; ++m) {
    const T* x = static_cast<const T*>(args.x) + m * args.x_stride;
    T* row = static_cast<T*>(args.table) + args.ids[m] * args.table_stride;
    for (std::int64_t c = 0; c < args.cols; ++c) row[c] += x[c];
  }
}

// Calls visit(place in [outer, picks, inner], place in [outer, extent, inner]) for every index, picks ascending.
template <typename Args, typename Visit>
void for_each_pick(const Args& args, const Visit& visit) {
  for (std::int64_t o = 0; o < args.outer; ++o) {
    for (std::int64_t p = 0; p < args.picks; ++p) {
      for (std::int64_t i = 0; i < args.inner; ++i) {
        const std::int64_t pick = (o * args.picks + p) * args.inner + i;
        visit(pick, (o * args.extent + args.index[pick]) * args.inner + i);
      }
    }
  }
}

template <typename T>
void gather_typed(const GatherArgs& args) {
  for_each_pick(args, [&](std::int64_t pick, std::int64_t place) {
    static_cast<T*>(args.out)[pick] = static_cast<const T*>(args.x)[place];
  });
}

template <typename T>
void scatter_add_typed(const ScatterAddArgs& args) {
  for_each_pick(args, [&](std::int64_t pick, std::int64_t place) {
    static_cast<T*>(args.target)[place] += static_cast<const T*>(args.x)[pick];
  });
}

}  // namespace

void index_rows(const Context&, const IndexRowsArgs& args) {
  args.dtype == DType::kF64 ? index_rows_typed<double>(args) : index_rows_typed<float>(args);
}

void add_rows(const Context&, const AddRowsArgs& args) {
  args.dtype == DType::kF64 ? add_rows_typed<double>(args) : add_rows_typed<float>(args);
}

void gather(const Context&, const GatherArgs& args) {
  args.dtype == DType::kF64 ? gather_typed<double>(args) : gather_typed<float>(args);
}

void scatter_add(const Context&, const ScatterAddArgs& args) {
  args.dtype == DType::kF64 ? scatter_add_typed<double>(args) : scatter_add_typed<float>(args);
}

}  // namespace minitorch::kernels::reference
