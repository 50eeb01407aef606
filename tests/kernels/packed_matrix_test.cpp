// pack_rows: the panel layout, in pieces and from every source type.
#include <doctest/doctest.h>

#include <cmath>  // std::ldexp
#include <limits>

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

TEST_CASE("pack_rows puts quads of k side by side in int8 panels, the scales behind them, and pads with zeros") {
  const std::int64_t rows = 18;
  const std::int64_t cols = 43;  // 11 quads, 2 groups
  std::vector<float> values;
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    // Every group holds 127 times a power of two, so the scale is that power and the values are exact.
    const std::int64_t n = i / cols;
    const std::int64_t k = i % cols;
    const std::int64_t quant = k % 32 == 5 ? 127 : (n * 31 + k * 7) % 255 - 127;
    values.push_back(std::ldexp(static_cast<float>(quant), static_cast<int>(n % 3 + k / 32)));
  }
  const TestMatrix matrix(PackedFormat::kInt8, rows, cols, values);
  CHECK(kernels::panel_bytes(PackedFormat::kInt8, cols) == 768);  // 11 * 64 + 2 * 32
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(matrix.view.panels);
  std::int64_t wrong = 0;
  for (std::int64_t n = 0; n < 32; ++n) {
    const std::uint8_t* panel = bytes + n / 16 * 768;
    for (std::int64_t k = 0; k < 44; ++k) {
      const int quant = panel[(k / 4 * 16 + n % 16) * 4 + k % 4] - 128;
      const float scale =
          to_float(reinterpret_cast<const Float16*>(panel + std::ptrdiff_t{11} * 64)[k / 32 * 16 + n % 16]);
      const float expected = n < rows && k < cols ? values[n * cols + k] : 0.0f;
      wrong += static_cast<float>(quant) * scale == expected ? 0 : 1;
      if (n >= rows || k >= cols) wrong += quant == 0 ? 0 : 1;
      if (n >= rows) wrong += scale == 0.0f ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("pack_rows puts octets of k into nibbles in int4 panels, the scales behind them, and pads with zeros") {
  constexpr std::int64_t kRows = 18;
  constexpr std::int64_t kCols = 43;  // 6 octets, 2 groups
  std::vector<float> values;
  for (std::int64_t i = 0; i < kRows * kCols; ++i) {
    // Every group holds -8 times a power of two, so the scale is that power and the values are exact.
    const std::int64_t n = i / kCols;
    const std::int64_t k = i % kCols;
    const std::int64_t quant = k % 32 == 5 ? -8 : (n * 31 + k * 7) % 16 - 8;
    values.push_back(std::ldexp(static_cast<float>(quant), static_cast<int>(n % 3 + k / 32)));
  }
  const TestMatrix matrix(PackedFormat::kInt4, kRows, kCols, values);
  CHECK(kernels::panel_bytes(PackedFormat::kInt4, kCols) == 448);  // 6 * 64 + 2 * 32
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(matrix.view.panels);
  std::int64_t wrong = 0;
  for (std::int64_t n = 0; n < 32; ++n) {
    const std::uint8_t* panel = bytes + n / 16 * 448;
    for (std::int64_t k = 0; k < 48; ++k) {
      const int both = panel[(k / 8 * 16 + n % 16) * 4 + k % 4];
      const int quant = (k % 8 < 4 ? both & 15 : both >> 4) - 8;
      const float scale =
          to_float(reinterpret_cast<const Float16*>(panel + std::ptrdiff_t{6} * 64)[k / 32 * 16 + n % 16]);
      const float expected = n < kRows && k < kCols ? values[n * kCols + k] : 0.0f;
      wrong += static_cast<float>(quant) * scale == expected ? 0 : 1;
      if (n >= kRows || k >= kCols) wrong += quant == 0 ? 0 : 1;
      if (n >= kRows) wrong += scale == 0.0f ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("pack_rows keeps int8 weights within half a step, also where the scale is a subnormal f16") {
  PhiloxStream random(3);
  for (const float size : {8.0e6f, 1.0f, 7e-3f, 1e-4f, 1e-5f, 7.7e-6f, 7.5e-6f, 1e-6f, 1e-8f, 1e-30f, 0.0f}) {
    std::vector<float> values = random_floats(20 * 32, random);
    for (float& value : values) value *= size;
    const TestMatrix matrix(PackedFormat::kInt8, 20, 32, values);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(matrix.view.panels);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < 20 * 32; ++i) {
      const std::int64_t n = i / 32;
      const std::int64_t k = i % 32;
      const std::uint8_t* panel = bytes + n / 16 * kernels::panel_bytes(PackedFormat::kInt8, 32);
      const int quant = panel[(k / 4 * 16 + n % 16) * 4 + k % 4] - 128;
      const float scale = to_float(reinterpret_cast<const Float16*>(panel + 512)[n % 16]);
      const double error = std::abs(static_cast<double>(quant) * scale - static_cast<double>(values[i]));
      wrong += error <= 0.5001 * static_cast<double>(scale) && std::abs(quant) <= 127 ? 0 : 1;
    }
    CAPTURE(size);
    CHECK(wrong == 0);
  }
}

TEST_CASE("pack_rows refuses int8 weights that are not finite or too large") {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -8.4e6f}) {
    for (const std::size_t place : {0, 31, 32, 39}) {
      std::vector<float> values(2 * 40, 1.0f);
      values[40 + place] = bad;
      CHECK_THROWS_AS(TestMatrix(PackedFormat::kInt8, 2, 40, values), Error);
    }
  }
  std::vector<float> values(2 * 40, 1.0f);
  values[75] = -8.4e6f;
  CHECK_THROWS_WITH_AS(
      TestMatrix(PackedFormat::kInt8, 2, 40, values),
      "pack_rows: expected weights for int8 to be finite and at most 127 * 65504, got 8400000 in row 1, "
      "columns from 32",
      Error);
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
  for (const PackedFormat format :
       {PackedFormat::kF32, PackedFormat::kBF16, PackedFormat::kInt8, PackedFormat::kInt4}) {
    for (const std::int64_t cols : {1, 31, 33, 63, 64, 65, 172}) {
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

TEST_CASE("pack_rows makes the same int8 panels of f16 and bf16 as of the same values in f32") {
  PhiloxStream random(4);
  std::vector<Float16> halves;
  std::vector<BFloat16> narrow;
  std::vector<float> halves_as_float;
  std::vector<float> narrow_as_float;
  for (const float value : random_floats(19 * 70, random)) {
    halves.push_back(to_float16(value));
    halves_as_float.push_back(to_float(halves.back()));
    narrow.push_back(to_bfloat16(value));
    narrow_as_float.push_back(to_float(narrow.back()));
  }
  CHECK(pack_in_pieces(PackedFormat::kInt8, 19, 70, halves, 19) ==
        pack_in_pieces(PackedFormat::kInt8, 19, 70, halves_as_float, 19));
  CHECK(pack_in_pieces(PackedFormat::kInt8, 19, 70, narrow, 19) ==
        pack_in_pieces(PackedFormat::kInt8, 19, 70, narrow_as_float, 19));
}

TEST_CASE("pack_rows refuses rows outside the matrix and sources that are not floats") {
  Buffer memory(static_cast<std::size_t>(kernels::packed_bytes(PackedFormat::kF32, 4, 4)));
  const PackedView view{PackedFormat::kF32, 4, 4, memory.data()};
  const std::vector<float> source(16);
  CHECK_THROWS_AS(kernels::pack_rows(view, 3, 2, source.data(), DType::kF32), ShapeError);
  CHECK_THROWS_AS(kernels::pack_rows(view, -1, 1, source.data(), DType::kF32), ShapeError);
  CHECK_THROWS_AS(kernels::pack_rows(view, 0, 1, source.data(), DType::kI32), DTypeError);
  CHECK_THROWS_AS(kernels::pack_rows({PackedFormat::kInt8, 4, 4, memory.data()}, 0, 1, source.data(), DType::kF64),
                  DTypeError);
}

}  // namespace
}  // namespace minitorch::test
