// pack_rows: the panel layout, in pieces and from every source type.
#include <doctest/doctest.h>

#include "kernels/packed_matrix.h"
#include "minitorch/base/error.h"
#include "tests/kernels/support.h"

namespace minitorch::test {
namespace {

using kernels::PackedFormat;
using kernels::PackedView;

TEST_CASE("pack_rows lays f32 panels out as k by 16 outputs and pads with zeros") {
  const std::int64_t rows = 18;
  const std::int64_t cols = 3;
  std::vector<float> values(static_cast<std::size_t>(rows * cols));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
  const TestMatrix matrix(PackedFormat::kF32, rows, cols, values);
  const auto* panels = reinterpret_cast<const float*>(matrix.view.panels);
  for (std::int64_t n = 0; n < 32; ++n) {
    for (std::int64_t k = 0; k < cols; ++k) {
      const float expected = n < rows ? values[n * cols + k] : 0.0f;
      CHECK(panels[(n / 16 * cols + k) * 16 + n % 16] == expected);
    }
  }
}

TEST_CASE("pack_rows puts pairs of k side by side in bf16 panels and pads an odd last k") {
  const std::int64_t rows = 17;
  const std::int64_t cols = 5;
  std::vector<float> values(static_cast<std::size_t>(rows * cols));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
  const TestMatrix matrix(PackedFormat::kBF16, rows, cols, values);
  const auto* panels = reinterpret_cast<const BFloat16*>(matrix.view.panels);
  for (std::int64_t n = 0; n < 32; ++n) {
    for (std::int64_t k = 0; k < 6; ++k) {
      const float expected = n < rows && k < cols ? values[n * cols + k] : 0.0f;
      CHECK(to_float(panels[((n / 16 * 3 + k / 2) * 16 + n % 16) * 2 + k % 2]) == expected);
    }
  }
}

// Packs in pieces of `step` rows from a source of type T.
template <typename T>
std::vector<std::byte> pack_in_pieces(PackedFormat format, std::int64_t rows, std::int64_t cols,
                                      const std::vector<T>& source, std::int64_t step) {
  Buffer memory(static_cast<std::size_t>(kernels::packed_bytes(format, rows, cols)));
  const PackedView view{format, rows, cols, memory.data()};
  for (std::int64_t row = 0; row < rows; row += step) {
    kernels::pack_rows(view, row, std::min(step, rows - row), source.data() + row * cols, dtype_of<T>);
  }
  return {memory.span().begin(), memory.span().end()};
}

TEST_CASE("pack_rows gives the same panels in pieces of any size") {
  PhiloxStream random(1);
  for (const PackedFormat format : {PackedFormat::kF32, PackedFormat::kBF16}) {
    for (const std::int64_t cols : {1, 63, 64, 65, 172}) {
      const std::vector<float> source = random_floats(53 * cols, random);
      const std::vector<std::byte> whole = pack_in_pieces(format, 53, cols, source, 53);
      for (const std::int64_t step : {1, 5, 16, 20}) CHECK(pack_in_pieces(format, 53, cols, source, step) == whole);
    }
  }
}

TEST_CASE("pack_rows rounds f32 to the nearest bf16 and takes f16 and bf16 exactly where they fit") {
  const std::vector<float> values{1.0f, 1.00390625f, 1.01171875f, -3.0e-5f, 65504.0f, 0.333251953125f};
  std::vector<Float16> halves;
  std::vector<BFloat16> narrow;
  std::vector<float> halves_as_float;
  for (const float value : values) {
    halves.push_back(to_float16(value));
    halves_as_float.push_back(to_float(halves.back()));
    narrow.push_back(to_bfloat16(value));
  }
  const auto as_bf16 = pack_in_pieces(PackedFormat::kBF16, 2, 3, values, 2);
  CHECK(as_bf16 == pack_in_pieces(PackedFormat::kBF16, 2, 3, narrow, 2));
  CHECK(reinterpret_cast<const BFloat16*>(as_bf16.data())[1].bits == 0x3F80);   // 1 + 2^-8: a tie, to even
  CHECK(reinterpret_cast<const BFloat16*>(as_bf16.data())[32].bits == 0x3F82);  // 1 + 3 * 2^-8: a tie, to even
  CHECK(pack_in_pieces(PackedFormat::kF32, 2, 3, halves, 2) ==
        pack_in_pieces(PackedFormat::kF32, 2, 3, halves_as_float, 2));
  CHECK(pack_in_pieces(PackedFormat::kBF16, 2, 3, halves, 2) ==
        pack_in_pieces(PackedFormat::kBF16, 2, 3, halves_as_float, 2));
}

TEST_CASE("pack_rows refuses rows outside the matrix and sources that are not floats") {
  Buffer memory(static_cast<std::size_t>(kernels::packed_bytes(PackedFormat::kF32, 4, 4)));
  const PackedView view{PackedFormat::kF32, 4, 4, memory.data()};
  const std::vector<float> source(16);
  CHECK_THROWS_AS(kernels::pack_rows(view, 3, 2, source.data(), DType::kF32), ShapeError);
  CHECK_THROWS_AS(kernels::pack_rows(view, -1, 1, source.data(), DType::kF32), ShapeError);
  CHECK_THROWS_AS(kernels::pack_rows(view, 0, 1, source.data(), DType::kI32), DTypeError);
}

}  // namespace
}  // namespace minitorch::test
