// Reference gather_rows: element by element.
#include "kernels/reference/elements.h"
#include "kernels/reference/reference.h"

namespace minitorch::kernels::reference {

void gather_rows(const Context&, const GatherRowsArgs& args) {
  for (std::int64_t i = 0; i < args.rows; ++i) {
    for (std::int64_t c = 0; c < args.table.cols; ++c) {
      args.out[i * args.out_stride + c] = weight_at(args.table, args.ids[i], c);
    }
  }
}

}  // namespace minitorch::kernels::reference
