// bfloat16 and binary16 conversions: every pattern, the rounding borders and NaN.
#include "minitorch/base/float16.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "minitorch/base/dtype.h"

namespace minitorch {
namespace {

std::uint16_t bf16_of_bits(std::uint32_t bits) { return to_bfloat16(std::bit_cast<float>(bits)).bits; }
float f16(std::uint16_t bits) { return to_float(Float16{bits}); }

bool is_bf16_nan(std::uint16_t bits) { return (bits & 0x7FFF) > 0x7F80; }
bool is_f16_nan(std::uint16_t bits) { return (bits & 0x7FFF) > 0x7C00; }

// Rounding to nearest even by definition: of the two neighbours the closer one, and in the middle the even one.
template <typename Half>
std::uint16_t nearest(float magnitude, std::uint16_t infinity) {
  std::uint16_t low = 0;
  while (low < infinity && static_cast<double>(to_float(Half{static_cast<std::uint16_t>(low + 1)})) <= magnitude) ++low;
  if (low == infinity) return low;
  const double below = to_float(Half{low});
  // Beyond the largest finite value the next step is as wide as the last one.
  const double above = low + 1 < infinity
                           ? static_cast<double>(to_float(Half{static_cast<std::uint16_t>(low + 1)}))
                           : 2 * below - static_cast<double>(to_float(Half{static_cast<std::uint16_t>(low - 1)}));
  const double middle = (below + above) / 2;
  if (magnitude != middle) return magnitude < middle ? low : static_cast<std::uint16_t>(low + 1);
  return low % 2 == 0 ? low : static_cast<std::uint16_t>(low + 1);
}

TEST_CASE("floats round to the nearest bfloat16, ties to even (case B30)") {
  CHECK(bf16_of_bits(0x3F808000) == 0x3F80);
  CHECK(bf16_of_bits(0x3F818000) == 0x3F82);
  CHECK(bf16_of_bits(0x3F808001) == 0x3F81);
  CHECK(bf16_of_bits(0x7F7FFFFF) == 0x7F80);
  CHECK(bf16_of_bits(0x80000000) == 0x8000);
  CHECK(bf16_of_bits(0xFF800000) == 0xFF80);
}

TEST_CASE("a NaN stays a NaN as bfloat16 and as binary16 (case B30)") {
  for (const std::uint32_t bits : {0x7F800001u, 0xFF800001u, 0x7FC00000u, 0xFFFFFFFFu, 0x7F801000u}) {
    CAPTURE(bits);
    CHECK(is_bf16_nan(bf16_of_bits(bits)));
    CHECK((bf16_of_bits(bits) >> 15) == (bits >> 31));
    const std::uint16_t half = to_float16(std::bit_cast<float>(bits)).bits;
    CHECK(is_f16_nan(half));
    CHECK((half >> 15) == (bits >> 31));
  }
}

TEST_CASE("binary16 patterns widen to the right floats (case B30)") {
  CHECK(f16(0x0001) == 5.9604645e-08f);
  CHECK(f16(0x03FF) == 6.0975552e-05f);
  CHECK(f16(0x8001) == -5.9604645e-08f);
  CHECK(f16(0x7BFF) == 65504.0f);
  CHECK(f16(0xFC00) == -std::numeric_limits<float>::infinity());
  CHECK(f16(0x3C00) == 1.0f);
  CHECK(std::signbit(f16(0x8000)));
}

TEST_CASE("floats round to the nearest binary16 (case B30)") {
  CHECK(to_float16(0x1p-15f).bits == 0x0200);
  CHECK(to_float16(3e-8f).bits == 0x0001);
  CHECK(to_float16(2.9e-8f).bits == 0x0000);
  CHECK(to_float16(65520.0f).bits == 0x7C00);
  CHECK(to_float16(std::nextafter(65520.0f, 0.0f)).bits == 0x7BFF);
  CHECK(to_float16(0x1p-25f).bits == 0x0000);  // in the middle between 0 and the smallest subnormal
  CHECK(to_float16(std::nextafter(0x1p-25f, 1.0f)).bits == 0x0001);
  CHECK(to_float16(-0.0f).bits == 0x8000);
}

TEST_CASE("all 65536 patterns of both types survive the way to float and back (case B30)") {
  int wrong_bf16 = 0;
  int wrong_f16 = 0;
  for (std::uint32_t pattern = 0; pattern <= 0xFFFF; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    const std::uint16_t bf16_back = to_bfloat16(to_float(BFloat16{bits})).bits;
    const std::uint16_t f16_back = to_float16(f16(bits)).bits;
    if (is_bf16_nan(bits) ? !is_bf16_nan(bf16_back) : bf16_back != bits) ++wrong_bf16;
    if (is_f16_nan(bits) ? !is_f16_nan(f16_back) : f16_back != bits) ++wrong_f16;
  }
  CHECK(wrong_bf16 == 0);
  CHECK(wrong_f16 == 0);
}

TEST_CASE("rounding agrees with its definition around every border between neighbours") {
  int wrong = 0;
  const auto check = [&](float value) {
    if (to_float16(value).bits != nearest<Float16>(value, 0x7C00)) ++wrong;
  };
  for (std::uint16_t bits = 0; bits < 0x7C00; bits = static_cast<std::uint16_t>(bits + 61)) {  // 61: odd and even ones
    const float low = f16(bits);
    const float high = bits + 1 < 0x7C00 ? f16(static_cast<std::uint16_t>(bits + 1)) : 65536.0f;
    const float middle = (low + high) / 2;
    for (const float value : {low, middle, std::nextafter(middle, low), std::nextafter(middle, high)}) check(value);
  }
  CHECK(wrong == 0);
  for (std::uint32_t bits = 0x3F7F0000; bits < 0x3F830000; bits += 0x0FFF) {
    const float value = std::bit_cast<float>(bits);
    if (to_bfloat16(value).bits != nearest<BFloat16>(value, 0x7F80)) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("every dtype has a size, a name and a C++ type") {
  CHECK(size_of(dtype_of<float>) == sizeof(float));
  CHECK(size_of(dtype_of<double>) == sizeof(double));
  CHECK(size_of(dtype_of<BFloat16>) == sizeof(BFloat16));
  CHECK(size_of(dtype_of<Float16>) == sizeof(Float16));
  CHECK(size_of(dtype_of<std::int32_t>) == 4);
  CHECK(size_of(dtype_of<std::int64_t>) == 8);
  CHECK(size_of(dtype_of<std::uint8_t>) == 1);
  CHECK(size_of(dtype_of<bool>) == 1);
  CHECK(name_of(DType::kBF16) == "bf16");
  CHECK(name_of(DType::kBool) == "bool");
}

}  // namespace
}  // namespace minitorch
