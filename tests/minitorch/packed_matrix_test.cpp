// PackedMatrix and pack(): the panel layout element by element.
#include "minitorch/core/packed_matrix.h"

#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <vector>

#include "minitorch/base/error.h"
#include "minitorch/core/execution_scope.h"

namespace minitorch {
namespace {

using kernels::PackedFormat;

// Element (row, col) as the layout in kernels/packed_matrix.h places it.
float element_at(const PackedMatrix& matrix, std::int64_t row, std::int64_t col) {
  const std::int64_t panel_row = row % 16;
  const std::byte* const panel = matrix.view().panels + row / 16 * kernels::panel_bytes(matrix.format(), matrix.cols());
  if (matrix.format() == PackedFormat::kF32) {
    float value = 0;
    std::memcpy(&value, panel + (col * 16 + panel_row) * 4, sizeof(value));
    return value;
  }
  BFloat16 value;
  std::memcpy(&value, panel + ((col / 2 * 16 + panel_row) * 2 + col % 2) * 2, sizeof(value));
  return to_float(value);
}

Tensor counting(std::int64_t rows, std::int64_t cols) { return Tensor::arange(rows * cols).view({rows, cols}); }

TEST_CASE("pack places every element of ragged matrices and pads with zeros") {
  ThreadPool pool(3);
  const ExecutionScope scope({.runtime = {.threads = &pool}});
  for (const PackedFormat format : {PackedFormat::kF32, PackedFormat::kBF16}) {
    for (const std::int64_t rows : {1, 15, 16, 17, 100}) {
      for (const std::int64_t cols : {1, 2, 7}) {
        CAPTURE(rows);
        CAPTURE(cols);
        const PackedMatrix packed = pack(counting(rows, cols), format);
        CHECK(packed.rows() == rows);
        CHECK(packed.cols() == cols);
        CHECK(packed.format() == format);
        int wrong = 0;
        for (std::int64_t row = 0; row < kernels::num_panels(rows) * 16; ++row) {
          const bool padded = format == PackedFormat::kBF16 && cols % 2 == 1;
          for (std::int64_t col = 0; col < cols + (padded ? 1 : 0); ++col) {
            const float plain = row < rows && col < cols ? static_cast<float>(row * cols + col) : 0.0F;
            const float expected = format == PackedFormat::kF32 ? plain : to_float(to_bfloat16(plain));
            if (element_at(packed, row, col) != expected) ++wrong;
          }
        }
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("pack makes int8 panels on all threads as one call does, and passes an error on") {
  ThreadPool pool(3);
  const ExecutionScope scope({.runtime = {.threads = &pool}});
  const Tensor source = counting(100, 37);
  const PackedMatrix packed = pack(source, PackedFormat::kInt8);
  CHECK(packed.format() == PackedFormat::kInt8);
  const PackedMatrix alone(PackedFormat::kInt8, 100, 37);
  kernels::pack_rows(alone.view(), 0, 100, source.data<float>(), DType::kF32);
  CHECK(std::memcmp(packed.view().panels, alone.view().panels, static_cast<std::size_t>(packed.bytes())) == 0);
  source.data<float>()[99 * 37] = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_AS((void)pack(source, PackedFormat::kInt8), Error);
}

TEST_CASE("pack takes f16 and bf16 sources and views that are not contiguous") {
  const Tensor source = counting(18, 5);
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    const PackedMatrix packed = pack(source.to(dtype).transpose(0, 1), PackedFormat::kF32);
    CHECK(packed.rows() == 5);
    CHECK(packed.cols() == 18);
    for (std::int64_t row = 0; row < 5; ++row) CHECK(element_at(packed, row, 17) == static_cast<float>(17 * 5 + row));
  }
}

TEST_CASE("pack refuses other dtypes and other numbers of dimensions") {
  CHECK_THROWS_WITH_AS((void)pack(Tensor::zeros({2}), PackedFormat::kF32), "pack: expected a matrix [N, K], got [2]",
                       ShapeError);
  CHECK_THROWS_WITH_AS((void)pack(Tensor::zeros({2, 2}, DType::kI32), PackedFormat::kF32),
                       "pack: expected dtype f32, f16 or bf16, got i32", DTypeError);
  CHECK_THROWS_AS((void)pack(Tensor(), PackedFormat::kF32), Error);
}

TEST_CASE("empty matrices are defined and negative or huge ones refused") {
  CHECK_FALSE(PackedMatrix().defined());
  CHECK(PackedMatrix(PackedFormat::kF32, 0, 5).defined());
  CHECK(pack(Tensor::zeros({3, 0}), PackedFormat::kBF16).bytes() == 0);
  CHECK_THROWS_AS(PackedMatrix(PackedFormat::kF32, -1, 5), ShapeError);
  CHECK_THROWS_AS(PackedMatrix(PackedFormat::kF32, INT64_MAX, 5), ShapeError);
  CHECK_THROWS_AS(PackedMatrix(PackedFormat::kF32, std::int64_t{1} << 31, std::int64_t{1} << 31), ShapeError);
}

TEST_CASE("copies share the panels and keep an arena alive") {
  auto arena = std::make_shared<Buffer>(4096);
  PackedMatrix copy;
  {
    const PackedMatrix matrix(PackedFormat::kF32, 16, 2, arena, arena->data() + 64);
    copy = matrix;
  }
  const std::weak_ptr<Buffer> watch = arena;
  arena.reset();
  CHECK_FALSE(watch.expired());
  CHECK(element_at(copy, 3, 1) == 0.0F);
  copy = PackedMatrix();
  CHECK(watch.expired());
}

}  // namespace
}  // namespace minitorch
