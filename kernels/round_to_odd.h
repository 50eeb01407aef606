// Rounding to odd: the step before a second, narrower rounding, so that both together round once (Boldo & Melquiond
// 2008).
#pragma once

#include <bit>
#include <cmath>  // std::abs, std::isnan
#include <cstdint>

namespace minitorch::kernels {

// `value` as a float: exact, or the neighbour towards zero with its last bit set.
inline float to_odd_float(double value) {
  const auto rounded = static_cast<float>(value);
  if (std::isnan(value) || static_cast<double>(rounded) == value) return rounded;
  auto bits = std::bit_cast<std::uint32_t>(rounded);
  if (std::abs(static_cast<double>(rounded)) > std::abs(value)) --bits;
  return std::bit_cast<float>(bits | 1u);
}

// `value` as a double: exact below 2^53; above, the bits that may not fit are folded into one.
inline double to_odd_double(std::int64_t value) {
  const std::uint64_t magnitude = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  if (magnitude < (std::uint64_t{1} << 53)) return static_cast<double>(value);
  const std::uint64_t sticky = (magnitude & 0x7FF) != 0 ? 0x800 : 0;
  const auto folded = static_cast<double>((magnitude & ~std::uint64_t{0x7FF}) | sticky);
  return value < 0 ? -folded : folded;
}

}  // namespace minitorch::kernels
