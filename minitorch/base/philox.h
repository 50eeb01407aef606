// Philox 4x32-10, the counter-based generator of all randomness here (Salmon et al., "Parallel random
// numbers: as easy as 1, 2, 3", SC'11): no state, the same bits on every backend.
#pragma once

#include <array>
#include <cstdint>

namespace minitorch {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

// Four random words for one counter under one key.
constexpr PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) {
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53;
  constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9;  // golden ratio
  constexpr std::uint32_t kWeyl1 = 0xBB67AE85;  // sqrt(3) - 1
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0];
    const std::uint64_t product1 = kMultiplier1 * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

// A double in (0, 1), never 0 nor 1: both logarithms of a Gumbel draw stay finite. The odd multiples of 2^-53, exactly,
// chosen by the upper 52 bits. (53 random bits plus a half would need 54: they round, and the largest becomes 1.)
constexpr double uniform53(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = ((static_cast<std::uint64_t>(high) << 32) | low) >> 12;
  return (static_cast<double>(bits) + 0.5) * 0x1p-52;
}

// A stream of uniforms for code that needs no particular keys (initial weights, test data).
class PhiloxStream {
 public:
  explicit PhiloxStream(std::uint64_t seed)
      : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)} {}

  std::uint32_t next_u32() {
    if (used_ == 4) {
      words_ = philox4x32({static_cast<std::uint32_t>(block_), static_cast<std::uint32_t>(block_ >> 32), 0, 0}, key_);
      ++block_;
      used_ = 0;
    }
    return words_[used_++];
  }
  // Uniform in [0, 1) with 24 bits.
  float uniform() { return static_cast<float>(next_u32() >> 8) * 0x1p-24f; }
  // Uniform integer in [0, bound). The bias of the multiplication is below bound / 2^32.
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>((static_cast<std::uint64_t>(next_u32()) * bound) >> 32);
  }

 private:
  PhiloxKey key_;
  PhiloxCounter words_{};
  std::uint64_t block_ = 0;
  std::uint32_t used_ = 4;
};

}  // namespace minitorch
