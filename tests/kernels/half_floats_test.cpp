// 16-bit floats on every table: the copies that convert them, and the vectors in which linear widens them (case B30).
#include <bit>
#include <cmath>    // std::isnan
#include <cstring>  // std::memcpy
#include <limits>

#include "minitorch/base/float16.h"
#include "tests/kernels/linear_support.h"
#include "tests/kernels/table_walk.h"

namespace minitorch::test {
namespace {

using kernels::KernelTable;
using kernels::PackedFormat;

constexpr std::int64_t kPatterns = 65536;

// Every pattern of a 16-bit float.
template <typename Half>
std::vector<Half> all_patterns() {
  std::vector<Half> halves(kPatterns);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i].bits = static_cast<std::uint16_t>(i);
  return halves;
}

// Converts by the kernel `copy`, reading and writing every `step`th element.
template <typename To, typename From>
std::vector<To> converted(const KernelTable& table, const std::vector<From>& source, std::int64_t step = 1) {
  const std::int64_t count = std::ssize(source) / step;
  std::vector<To> result(source.size());
  table.copy({.pool = pool_of(1)}, {.dims = 1,
                                    .shape = {count},
                                    .source = source.data(),
                                    .source_dtype = dtype_of<From>,
                                    .source_strides = {step},
                                    .destination = result.data(),
                                    .destination_dtype = dtype_of<To>,
                                    .destination_strides = {step}});
  return result;
}

// Of the elements at multiples of `step`: how many differ; NaNs of any payload are equal.
template <typename Half>
int count_differing(const std::vector<Half>& a, const std::vector<Half>& b, std::size_t step) {
  int differing = 0;
  for (std::size_t i = 0; i < a.size(); i += step) {
    const bool nan = std::isnan(to_float(a[i]));
    if (nan ? !std::isnan(to_float(b[i])) : a[i].bits != b[i].bits) ++differing;
  }
  return differing;
}

template <typename Half>
void check_round_trip(const KernelTable& table) {
  const std::vector<Half> halves = all_patterns<Half>();
  for (const std::int64_t step : {1, 2}) {
    CAPTURE(step);
    const std::vector<float> wide = converted<float>(table, halves, step);
    int wrong = 0;
    for (std::size_t i = 0; i < wide.size(); i += static_cast<std::size_t>(step)) {
      const float expected = to_float(halves[i]);
      const bool same = std::bit_cast<std::uint32_t>(wide[i]) == std::bit_cast<std::uint32_t>(expected);
      if (!same && !(std::isnan(wide[i]) && std::isnan(expected))) ++wrong;
    }
    CHECK(wrong == 0);
    CHECK(count_differing(halves, converted<Half>(table, wide, step), static_cast<std::size_t>(step)) == 0);
  }
}

TEST_CASE("all 65536 patterns of bf16 and f16 survive the way to f32 and back on every table (case B30)") {
  on_every_table("copy", [](const KernelTable& table) {
    check_round_trip<BFloat16>(table);
    check_round_trip<Float16>(table);
  });
}

// Sixteen times the same value, so that vectors are at work.
template <typename To, typename From>
To converted_one(const KernelTable& table, From value) {
  const std::vector<To> result = converted<To>(table, std::vector<From>(16, value));
  for (const To& element : result) CHECK(same_bits(&element, &result[0], 1));
  return result[0];
}

TEST_CASE("the borders between neighbouring 16-bit floats are the same on every table (case B30)") {
  on_every_table("copy", [](const KernelTable& table) {
    const auto bf16 = [&](std::uint32_t bits) { return converted_one<BFloat16>(table, std::bit_cast<float>(bits)); };
    CHECK(bf16(0x3F808000).bits == 0x3F80);
    CHECK(bf16(0x3F818000).bits == 0x3F82);
    CHECK(bf16(0x3F808001).bits == 0x3F81);
    CHECK(bf16(0x7F7FFFFF).bits == 0x7F80);
    CHECK(std::isnan(to_float(bf16(0x7F800001))));
    CHECK(std::isnan(to_float(bf16(0xFF800001))));
    const auto wide = [&](std::uint16_t bits) { return converted_one<float>(table, Float16{bits}); };
    CHECK(wide(0x0001) == 5.9604645e-08f);
    CHECK(wide(0x03FF) == 6.0975552e-05f);
    CHECK(wide(0x8001) == -5.9604645e-08f);
    CHECK(wide(0x7BFF) == 65504.0f);
    CHECK(wide(0xFC00) == -std::numeric_limits<float>::infinity());
    const auto f16 = [&](float value) { return converted_one<Float16>(table, value).bits; };
    CHECK(f16(0x1p-15f) == 0x0200);
    CHECK(f16(3e-8f) == 0x0001);
    CHECK(f16(2.9e-8f) == 0x0000);
    CHECK(f16(65520.0f) == 0x7C00);
  });
}

// Outputs of linear for x = `value`, a single column.
std::vector<float> outputs_of(const KernelTable& table, const kernels::PackedView& weight, float value) {
  std::vector<float> y(static_cast<std::size_t>(weight.rows));
  run_linear(table, {.x = &value, .x_stride = 1, .rows = 1, .weight = weight, .y = y.data(), .y_stride = weight.rows});
  return y;
}

template <typename Half>
int count_wrong(const std::vector<float>& y, const std::vector<Half>& halves, float factor) {
  int wrong = 0;
  for (std::size_t i = 0; i < y.size(); ++i) wrong += near(y[i], factor * to_float(halves[i]), 0.0) ? 0 : 1;
  return wrong;
}

TEST_CASE("linear widens all 65536 patterns of bf16 weights exactly on every table (case B30)") {
  const std::vector<BFloat16> weights = all_patterns<BFloat16>();
  Buffer memory(static_cast<std::size_t>(kernels::packed_bytes(PackedFormat::kBF16, kPatterns, 1)));
  const kernels::PackedView view{PackedFormat::kBF16, kPatterns, 1, memory.data()};
  kernels::pack_rows(view, 0, kPatterns, weights.data(), DType::kBF16);
  on_every_table("linear", [&](const KernelTable& table) {
    CHECK(count_wrong(outputs_of(table, view, 1.0f), weights, 1.0f) == 0);
  });
}

TEST_CASE("linear widens all 65536 patterns of the f16 scales of int8 weights exactly on every table (case B30)") {
  const std::vector<Float16> scales = all_patterns<Float16>();
  TestMatrix matrix(PackedFormat::kInt8, kPatterns, 1, std::vector<float>(kPatterns, 1.0f));  // all quants are 127
  const std::int64_t stride = kernels::panel_bytes(PackedFormat::kInt8, 1);
  for (std::int64_t n = 0; n < kPatterns; n += kernels::kPanelWidth) {
    std::byte* panel = matrix.view.panels + n / kernels::kPanelWidth * stride;
    std::memcpy(panel + kernels::scales_offset(PackedFormat::kInt8, 1), &scales[static_cast<std::size_t>(n)], 32);
  }
  // x = 127 is its own quant and its scale 1: what remains is one product, rounded once.
  on_every_table("linear", [&](const KernelTable& table) {
    CHECK(count_wrong(outputs_of(table, matrix.view, 127.0f), scales, 127.0f * 127.0f) == 0);
  });
}

}  // namespace
}  // namespace minitorch::test
