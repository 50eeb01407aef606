// Quantising groups of weights: scales by the largest weight (int8) and by search (int4).
#include "kernels/quantise.h"

#include <algorithm>
#include <bit>
#include <cmath>    // std::isfinite
#include <cstring>  // std::memcpy

#include "minitorch/base/check.h"

namespace minitorch::kernels {
namespace {

// Adding this to a magnitude below 2^22 rounds it to the nearest integer, ties to even, in the low bits of the sum.
constexpr float kRounder = 0x1.8p23f;

float largest_magnitude(const float (&w)[kGroupCols]) {
  std::int32_t largest = 0;  // as bits, whose order is that of the magnitudes, with NaN above infinity
  for (const float value : w) largest = std::max(largest, std::bit_cast<std::int32_t>(value) & 0x7FFFFFFF);
  return std::bit_cast<float>(largest);
}

// Four floats at a time: written out, since compilers do not find it, and the order of sums is the same everywhere.
using Four = float __attribute__((vector_size(16)));
constexpr int kFours = kGroupCols / 4;

Four all(float value) { return Four{value, value, value, value}; }
float sum_of(Four x) { return (x[0] + x[2]) + (x[1] + x[3]); }

// int4 at one distance of the extreme weight from zero, in steps of the scale: with u = w / extreme in [-1, 1], the
// quants q, sum u q and sum q q. The best scale for these quants is extreme * products / squares (least squares), which
// leaves the squared error sum u u - products^2 / squares.
struct Int4Candidate {
  Four quants[kFours];
  float products;
  float squares;

  Int4Candidate(const Four (&u)[kFours], float steps) {
    Four product = all(0.0f);
    Four square = all(0.0f);
    for (int i = 0; i < kFours; ++i) {
      const Four rounded = (u[i] * all(-steps) + all(kRounder)) - all(kRounder);
      const Four above = rounded < all(-8.0f) ? all(-8.0f) : rounded;
      quants[i] = above > all(7.0f) ? all(7.0f) : above;
      product += u[i] * quants[i];
      square += quants[i] * quants[i];
    }
    products = sum_of(product);
    squares = sum_of(square);
  }
  // Of the sum u u, which is the same for all candidates.
  [[nodiscard]] float explained() const { return products * products / squares; }
};

// Bytes between the quants of consecutive k in a lane are given by packed_matrix.h.
void store_int8(const PackedView& destination, std::byte* lane, std::int64_t group, const WeightGroup& quantised) {
  const std::int64_t count = std::min<std::int64_t>(kGroupCols, destination.cols - group * kGroupCols);
  for (std::int64_t i = 0; i < count; i += 4) {
    std::uint8_t quad[4];
    for (int j = 0; j < 4; ++j) quad[j] = static_cast<std::uint8_t>(quantised.quants[i + j] + kInt8Offset);
    std::memcpy(lane + (group * kGroupCols + i) * kPanelWidth, quad, 4);
  }
}

void store_int4(const PackedView& destination, std::byte* lane, std::int64_t group, const WeightGroup& quantised) {
  const std::int64_t count = std::min<std::int64_t>(kGroupCols, destination.cols - group * kGroupCols);
  for (std::int64_t i = 0; i < count; i += 8) {
    std::uint8_t octet[4];
    for (int j = 0; j < 4; ++j) {
      const int low = quantised.quants[i + j] + kInt4Offset;
      const int high = quantised.quants[i + 4 + j] + kInt4Offset;
      octet[j] = static_cast<std::uint8_t>(low | high << 4);
    }
    std::memcpy(lane + (group * kGroupCols + i) / 2 * kPanelWidth, octet, 4);
  }
}

}  // namespace

WeightGroup quantise_int8(const float (&w)[kGroupCols], float largest) {
  WeightGroup result{.scale = to_float16(largest / 127.0f), .quants = {}};
  if (largest > 127.5f * to_float(result.scale)) ++result.scale.bits;
  const float divisor = result.scale.bits == 0 ? 1.0f : to_float(result.scale);
  for (int i = 0; i < kGroupCols; ++i) {
    const auto rounded = static_cast<int>((w[i] / divisor + kRounder) - kRounder);
    result.quants[i] = static_cast<std::int8_t>(std::max(-127, std::min(127, rounded)));
  }
  return result;
}

WeightGroup quantise_int4(const float (&w)[kGroupCols], float largest) {
  // The extreme weight lies between 6.5 and 9.5 steps from zero. Finer or wider searches gain less than 0.5 % of the
  // error on Gaussian weights.
  // 8 comes first: it wins ties, so that weights that are whole steps are exact.
  constexpr float kSteps[] = {8.0f, 6.5f, 7.0f, 7.5f, 8.5f, 9.0f, 9.5f};
  constexpr float kSmallest = 0x1p-100f;  // far below the smallest f16
  if (largest < kSmallest) return {};
  const auto place = std::find_if(std::begin(w), std::end(w), [&](float x) { return std::abs(x) == largest; });
  const float extreme = place == std::end(w) ? largest : *place;
  Four u[kFours];
  std::memcpy(u, w, sizeof(w));
  for (Four& part : u) part /= all(extreme);
  Int4Candidate best(u, kSteps[0]);
  for (const float steps : kSteps) {
    const Int4Candidate candidate(u, steps);
    if (candidate.explained() > best.explained()) best = candidate;
  }
  WeightGroup result{.scale = to_float16(extreme * (best.products / best.squares)), .quants = {}};
  for (int i = 0; i < kGroupCols; ++i) result.quants[i] = static_cast<std::int8_t>(best.quants[i / 4][i % 4]);
  return result;
}

void pack_group(const PackedView& destination, std::int64_t row, std::int64_t group, const float (&w)[kGroupCols]) {
  const float largest = largest_magnitude(w);
  const bool int8 = destination.format == PackedFormat::kInt8;
  const float steps = int8 ? 127.0f : 4.0f;  // int4: 1.5 steps of 6.5 round to quant 1 at least: below 1/4
  MT_CHECK(std::isfinite(largest) && std::isfinite(to_float(to_float16(largest / steps))),
           "pack_rows: expected weights for {} to be finite and at most {} * 65504, got {} in row {}, columns from {}",
           int8 ? "int8" : "int4", steps, largest, row, group * kGroupCols);
  const WeightGroup quantised = int8 ? quantise_int8(w, largest) : quantise_int4(w, largest);
  std::byte* panel = destination.panels + row / kPanelWidth * panel_bytes(destination.format, destination.cols);
  const std::int64_t lane = row % kPanelWidth;
  std::memcpy(panel + scales_offset(destination.format, destination.cols) + (group * kPanelWidth + lane) * 2,
              &quantised.scale, sizeof(quantised.scale));
  if (int8) {
    store_int8(destination, panel + 4 * lane, group, quantised);
  } else {
    store_int4(destination, panel + 4 * lane, group, quantised);
  }
}

void fill_lanes_without_rows(const PackedView& destination, std::byte* panel) {
  const bool int8 = destination.format == PackedFormat::kInt8;
  const auto zeros = static_cast<std::byte>(int8 ? kInt8Offset : kInt4Offset * 17);  // both nibbles
  const std::int64_t used = (destination.rows - 1) % kPanelWidth + 1;
  for (std::int64_t k = 0; k < destination.cols; k += int8 ? 4 : 8) {
    const std::int64_t begin = k * kPanelWidth / (int8 ? 1 : 2);
    std::fill_n(panel + begin + used * 4, (kPanelWidth - used) * 4, zeros);
  }
}

}  // namespace minitorch::kernels
