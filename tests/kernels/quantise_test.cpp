// The error of int8 and int4 weights, against the formats of llama.cpp that take as many bits.
#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "minitorch/io/safetensors.h"
#include "models/embedded_pair.h"
#include "tests/kernels/linear_support.h"
#include "tests/kernels/support.h"

namespace minitorch::test {
namespace {

using kernels::PackedFormat;

double gaussian(PhiloxStream& random) {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - static_cast<double>(random.uniform())));
  return radius * std::cos(2.0 * std::numbers::pi * static_cast<double>(random.uniform()));
}

// Q8_0 of llama.cpp: groups of 32, quants by the scale in f32, which is then stored as f16.
std::vector<float> q8_0(const std::vector<float>& w) {
  std::vector<float> result;
  for (std::size_t begin = 0; begin < w.size(); begin += 32) {
    const float scale = largest_magnitude(&w[begin], 32) / 127.0f;
    const float inverse = scale == 0.0f ? 0.0f : 1.0f / scale;
    for (std::size_t k = begin; k < begin + 32; ++k) {
      result.push_back(std::round(w[k] * inverse) * to_float(to_float16(scale)));
    }
  }
  return result;
}

double relative_rms(const std::vector<float>& values, const std::vector<float>& exact) {
  double error = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    error += std::pow(static_cast<double>(values[i]) - static_cast<double>(exact[i]), 2);
    size += std::pow(static_cast<double>(exact[i]), 2);
  }
  return std::sqrt(error / size);
}

// Q4_0 of llama.cpp: groups of 32, quants -8 to 7 by the scale in f32 that puts the extreme weight at -8.
std::vector<float> q4_0(const std::vector<float>& w) {
  std::vector<float> result;
  for (std::size_t begin = 0; begin < w.size(); begin += 32) {
    const float extreme =
        *std::max_element(&w[begin], &w[begin] + 32, [](float a, float b) { return std::abs(a) < std::abs(b); });
    const float scale = extreme / -8.0f;
    const float inverse = scale == 0.0f ? 0.0f : 1.0f / scale;
    for (std::size_t k = begin; k < begin + 32; ++k) {
      const float quant = std::min(15.0f, std::trunc(w[k] * inverse + 8.5f)) - 8.0f;
      result.push_back(quant * to_float(to_float16(scale)));
    }
  }
  return result;
}

std::vector<float> held_in(PackedFormat format, const std::vector<float>& w, std::int64_t rows, std::int64_t cols) {
  const TestMatrix weight(format, rows, cols, w);
  std::vector<float> held(w.size());
  std::vector<std::int32_t> ids;
  for (std::int32_t n = 0; n < rows; ++n) ids.push_back(n);
  kernels::reference_table().gather_rows(
      {.pool = pool_of(1)},
      {.table = weight.view, .ids = ids.data(), .rows = rows, .out = held.data(), .out_stride = cols});
  return held;
}

struct Errors {
  double int8, q8_0, int4, q4_0;
};

Errors errors_of(const std::vector<float>& w, std::int64_t rows, std::int64_t cols) {
  return {.int8 = relative_rms(held_in(PackedFormat::kInt8, w, rows, cols), w),
          .q8_0 = relative_rms(q8_0(w), w),
          .int4 = relative_rms(held_in(PackedFormat::kInt4, w, rows, cols), w),
          .q4_0 = relative_rms(q4_0(w), w)};
}

TEST_CASE("int8 and int4 hold Gaussian weights better than Q8_0 and Q4_0 do, in at most 8.925 and 4.725 bits") {
  PhiloxStream random(10);
  constexpr std::int64_t kRows = 64;
  constexpr std::int64_t kCols = 1536;
  std::vector<float> w(kRows * kCols);
  for (float& value : w) value = static_cast<float>(0.02 * gaussian(random));
  const Errors errors = errors_of(w, kRows, kCols);
  CAPTURE(errors.int8);
  CAPTURE(errors.q8_0);
  CAPTURE(errors.int4);
  CAPTURE(errors.q4_0);
  CHECK(errors.int8 <= errors.q8_0);
  CHECK(errors.q8_0 < 0.0060);
  CHECK(errors.int8 > 0.0050);
  CHECK(errors.int4 < 0.96 * errors.q4_0);
  CHECK(errors.q4_0 < 0.090);
  CHECK(errors.int4 > 0.075);
  for (const std::int64_t cols : {1536, 896, 8960, 4864}) {
    const auto bits = [&](PackedFormat format) {
      return 8.0 * static_cast<double>(kernels::packed_bytes(format, kRows, cols)) / static_cast<double>(kRows * cols);
    };
    CHECK(bits(PackedFormat::kInt8) <= 8.925);
    CHECK(bits(PackedFormat::kInt4) <= 4.725);
  }
}

TEST_CASE("int8 and int4 hold every matrix of the embedded pair's target at least as well as Q8_0 and Q4_0 do") {
  const io::SafetensorsFile file(models::find_embedded_pair() / "target" / "model.safetensors");
  int matrices = 0;
  for (const auto& [name, entry] : file.entries()) {
    if (entry.shape.dims() != 2) continue;
    ++matrices;
    CAPTURE(name);
    const Tensor tensor = file.read(name).to(DType::kF32);
    const std::vector<float> w(tensor.data<float>(), tensor.data<float>() + tensor.numel());
    const Errors errors = errors_of(w, entry.shape[0], entry.shape[1]);
    CHECK(errors.int8 <= errors.q8_0);
    CHECK(errors.int4 <= errors.q4_0);
  }
  CHECK(matrices > 10);
}

TEST_CASE("int4 is exact for weights that are whole steps, whichever end of its range they touch") {
  for (const float step : {1.0f, -0.25f, 0x1p-14f, 1024.0f}) {
    for (const int extreme : {-8, 8, 7, -7}) {
      std::vector<float> w;
      for (int k = 0; k < 64; ++k) w.push_back(static_cast<float>(k % 32 == 9 ? extreme : k % 15 - 7) * step);
      CAPTURE(step);
      CAPTURE(extreme);
      CHECK(held_in(PackedFormat::kInt4, w, 1, 64) == w);
    }
  }
}

TEST_CASE("int4 keeps tiny and huge weights, and zeros") {
  PhiloxStream random(3);
  const std::vector<float> random_values = random_floats(5 * 64, random);
  for (const float size : {2.6e5f, 1.0f, 1e-2f, 1e-4f}) {
    std::vector<float> w = random_values;
    for (float& value : w) value *= size;
    CAPTURE(size);
    CHECK(relative_rms(held_in(PackedFormat::kInt4, w, 5, 64), w) < 0.1);
  }
  for (const float size : {0.0f, 1e-12f, 1e-36f, 1e-42f}) {  // below the smallest f16 scale
    std::vector<float> w = random_values;
    for (float& value : w) value *= size;
    for (const float value : held_in(PackedFormat::kInt4, w, 5, 64)) CHECK(std::abs(value) <= size);
  }
}

}  // namespace
}  // namespace minitorch::test
