// For the tests of linear: calls with exactly the scratch memory asked for, and int8 quantisation written down once
// more.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/kernel_table.h"
#include "kernels/quantise.h"
#include "minitorch/base/float16.h"
#include "tests/kernels/support.h"

namespace minitorch::test {

inline void run_linear(const kernels::KernelTable& table, const kernels::LinearArgs& args, int threads = 1) {
  const std::size_t bytes = kernels::linear_scratch_bytes(args, threads);
  GuardedRows<std::byte> scratch(1, static_cast<std::int64_t>(bytes));
  table.linear({.pool = pool_of(threads), .scratch = {scratch.data(), bytes}}, args);
  CHECK(scratch.guards_intact());
}

inline float largest_magnitude(const float* values, std::int64_t count) {
  float largest = 0.0f;
  for (std::int64_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(values[i]));
  return largest;
}

// A row of x as linear quantises it for int8 weights, widened again. Finite values only.
inline std::vector<double> quantised_x(const float* x, std::int64_t count) {
  std::vector<double> result;
  for (std::int64_t begin = 0; begin < count; begin += kernels::kGroupCols) {
    const std::int64_t end = std::min(begin + kernels::kGroupCols, count);
    const float largest = largest_magnitude(x + begin, end - begin);
    const bool zeros = largest < kernels::kInt8Smallest;
    for (std::int64_t k = begin; k < end; ++k) {
      const float quant = zeros ? 0.0f : std::nearbyint(x[k] * (127.0f / largest));
      result.push_back(static_cast<double>(quant) * static_cast<double>(largest / 127.0f));
    }
  }
  return result;
}

// A row of weights as int4 holds it: what the quantiser chose, in row order.
inline std::vector<float> int4_weights(const float* w, std::int64_t count) {
  std::vector<float> result;
  for (std::int64_t begin = 0; begin < count; begin += kernels::kGroupCols) {
    const std::int64_t size = std::min<std::int64_t>(kernels::kGroupCols, count - begin);
    float group[kernels::kGroupCols] = {};
    std::copy_n(w + begin, size, group);
    const kernels::WeightGroup chosen = kernels::quantise_int4(group, largest_magnitude(group, kernels::kGroupCols));
    for (std::int64_t i = 0; i < size; ++i) result.push_back(chosen.quants[i] * to_float(chosen.scale));
  }
  return result;
}

// A row of weights as int8 holds it, widened again. Scales in the normal range of f16 only.
inline std::vector<float> quantised_weights(const float* w, std::int64_t count) {
  std::vector<float> result;
  for (std::int64_t begin = 0; begin < count; begin += kernels::kGroupCols) {
    const std::int64_t end = std::min(begin + kernels::kGroupCols, count);
    const float scale = to_float(to_float16(largest_magnitude(w + begin, end - begin) / 127.0f));
    for (std::int64_t k = begin; k < end; ++k) {
      result.push_back(scale == 0.0f ? 0.0f : std::clamp(std::nearbyint(w[k] / scale), -127.0f, 127.0f) * scale);
    }
  }
  return result;
}

inline std::vector<float> product(const kernels::KernelTable& table, const std::vector<float>& x, std::int64_t rows,
                                  const TestMatrix& weight, int threads = 1) {
  std::vector<float> y(static_cast<std::size_t>(rows * weight.view.rows));
  run_linear(table,
             {.x = x.data(),
              .x_stride = weight.view.cols,
              .rows = rows,
              .weight = weight.view,
              .y = y.data(),
              .y_stride = weight.view.rows},
             threads);
  return y;
}

// Whether every CPU table, on 1 and 3 threads, gives the bits of the first one.
inline bool tables_agree(const std::vector<float>& x, std::int64_t rows, const TestMatrix& weight) {
  const auto tables = kernels::cpu_tables();
  const std::vector<float> expected = product(*tables[0], x, rows, weight);
  bool agree = true;
  for (const kernels::KernelTable* table : tables) {
    for (const int threads : {1, 3}) {
      const std::vector<float> y = product(*table, x, rows, weight, threads);
      agree = agree && same_bits(y.data(), expected.data(), static_cast<std::int64_t>(y.size()));
    }
  }
  return agree;
}

// The same over ragged sizes of all kinds, and over so many rows that they take several passes.
inline void check_tables_agree(kernels::PackedFormat format) {
  PhiloxStream random(1);
  for (const std::int64_t inputs : {0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 172, 601, 1536}) {
    for (const std::int64_t outputs : {1, 15, 16, 17, 101}) {
      const TestMatrix weight(format, outputs, inputs, random);
      for (const std::int64_t rows : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 40}) {
        if (rows > 5 && outputs > 17 && inputs > 601) continue;
        CAPTURE(inputs);
        CAPTURE(outputs);
        CAPTURE(rows);
        CHECK(tables_agree(random_floats(rows * inputs, random), rows, weight));
      }
    }
  }
  const TestMatrix weight(format, 33, 70, random);
  for (const std::int64_t rows : {100, 191, 192, 193, 400}) {  // several passes
    CAPTURE(rows);
    CHECK(tables_agree(random_floats(rows * 70, random), rows, weight));
  }
}

}  // namespace minitorch::test
