// Reference matmul: one double sum per output.
#include "kernels/reference/reference.h"
#include "minitorch/base/check.h"

namespace minitorch::kernels::reference {
namespace {

template <typename T>
void multiply(const MatmulArgs& args) {
  for (std::int64_t i = 0; i < args.batches; ++i) {
    const T* a = static_cast<const T*>(args.a) + i * args.a_batch;
    const T* b = static_cast<const T*>(args.b) + i * args.b_batch;
    T* c = static_cast<T*>(args.c) + i * args.c_batch;
    for (std::int64_t m = 0; m < args.rows; ++m) {
      for (std::int64_t n = 0; n < args.cols; ++n) {
        double sum = args.accumulate ? c[m * args.c_row + n] : 0.0;
        for (std::int64_t k = 0; k < args.inner; ++k) {
          sum += static_cast<double>(a[m * args.a_row + k * args.a_col]) * b[k * args.b_row + n * args.b_col];
        }
        c[m * args.c_row + n] = static_cast<T>(sum);
      }
    }
  }
}

}  // namespace

void matmul(const Context&, const MatmulArgs& args) {
  MT_CHECK(args.dtype == DType::kF32 || args.dtype == DType::kF64, "matmul: expected f32 or f64, got {}",
           name_of(args.dtype));
  if (args.dtype == DType::kF64) return multiply<double>(args);
  multiply<float>(args);
}

}  // namespace minitorch::kernels::reference
